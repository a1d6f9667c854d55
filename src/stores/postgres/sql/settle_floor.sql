-- Only the floor of the next window, for lanes that have fallen far behind: the window that opens next then
-- starts its successor where it began, and not where the last one did. The floors were read before this draws the
-- transaction id. $2: the newest turn that the claim saw, then for each row that it found: its turn, its first lane,
-- which of its lanes are meant, what was delivered in them, and the floor. Whom somebody has moved
-- meanwhile stays. Returns, for each, since when nobody knows where a transaction has begun, and until when.
insert into {schema}.progress (destination, turn, lane, lanes, delivered, p, f, late, s, sf, sf_by, u, last, nf, nf_by)
select c.destination, $2::bigint + 1, (v.lanes::smallint[])[1], v.lanes::smallint[], v.delivered::bigint[], c.p, c.f,
    c.late, c.s, c.sf, c.sf_by, c.u, c.last, v.nf, pg_current_xact_id()::text::bigint
from unnest($3::bigint[], $4::smallint[], $5::text[], $6::text[], $7::bigint[]) as v(turn, first, lanes, delivered, nf)
cross join lateral (select * from {schema}.progress
    where destination = $1 and turn = v.turn and lane = v.first limit 1) c
where not exists (select from {schema}.progress n
    where n.destination = $1 and n.turn > $2 and n.lanes && v.lanes::smallint[])
returning pg_snapshot_xmax(p)::text, nf_by::text
