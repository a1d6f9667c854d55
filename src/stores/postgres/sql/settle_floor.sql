-- Only the floor of the next window, for lanes that have fallen far behind: the window that opens next then
-- starts its successor where it began, and not where the last one did. The floors were read before this draws the
-- transaction id. Returns, for each lane, since when nobody knows where a transaction has begun, and until when.
insert into {schema}.cursor (destination, lane, turn, p, f, s, sf, sf_by, u, last, nf, nf_by, delivered, late)
select c.destination, c.lane, c.turn + 1, c.p, c.f, c.s, c.sf, c.sf_by, c.u, c.last, v.nf,
    pg_current_xact_id()::text::bigint, c.delivered, c.late
from unnest($2::smallint[], $3::bigint[], $4::bigint[]) as v(lane, turn, nf)
cross join lateral (select * from {schema}.cursor
    where destination = $1 and lane = v.lane and turn = v.turn limit 1) c
returning pg_snapshot_xmax(p)::text, nf_by::text
