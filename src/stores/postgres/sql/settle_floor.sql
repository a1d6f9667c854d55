-- Only the floor of the next window, for lanes that have fallen far behind: the window that opens next then
-- starts its successor where it began, and not where the last one did.
insert into {schema}.cursor (destination, lane, turn, p, f, s, sf, u, last, nf, delivered, late)
select c.destination, c.lane, c.turn + 1, c.p, c.f, c.s, c.sf, c.u, c.last, v.nf, c.delivered, c.late
from unnest($2::smallint[], $3::bigint[], $4::bigint[]) as v(lane, turn, nf)
cross join lateral (select * from {schema}.cursor
    where destination = $1 and lane = v.lane and turn = v.turn limit 1) c
