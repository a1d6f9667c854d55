-- Messages of the lane l that the cursor c has still to bring to a destination: those above its floor, and the late
-- ones beneath it. Leans on (lane, seq) and (xid, lane, seq), so that what was delivered and kept costs nothing.
(select m.occurred_at from {schema}.message m
where {schema}.lane_of(m.key, m.seq) = l.lane and m.seq > c.f and not pg_visible_in_snapshot(m.xid, c.p)
and (c.s is null or m.seq > c.last or not pg_visible_in_snapshot(m.xid, c.s)) and m.topic like any ({topics})
order by m.seq limit {limit})
union all
(select m.occurred_at from unnest(array(select pg_snapshot_xip(c.p))) i, {schema}.message m
where m.xid = i and {schema}.lane_of(m.key, m.seq) = l.lane and m.seq <= c.f
and (c.s is null or m.seq > c.last or not pg_visible_in_snapshot(m.xid, c.s)) and m.topic like any ({topics})
limit {limit})
