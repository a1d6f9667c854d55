-- Messages of the lanes of the cursors c that are still to be brought to a destination. Leans on (seq), so that what
-- was delivered and kept costs nothing: see claim_log.sql for where they lie. What is still in progress is not seen.
(select m.occurred_at
from (select least(c.f, (select min(coalesce(i.floor, 0)) from rows from (pg_snapshot_xip(c.p), unnest(c.late))
    as i(id, floor) where pg_visible_in_snapshot(i.id, pg_current_snapshot()))) as low) b
join {schema}.message m on m.seq > b.low and m.seq <= b.low + {numbers}
where ({whole} or {schema}.lane_of(m.key, m.seq) = any (c.lanes)) and not pg_visible_in_snapshot(m.xid, c.p)
and (c.s is null or m.seq > c.last or not pg_visible_in_snapshot(m.xid, c.s)) and m.topic like any ({topics})
order by m.seq limit {limit})
