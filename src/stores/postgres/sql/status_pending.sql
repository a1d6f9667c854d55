-- Messages that a destination has still to see, counted up to a limit per lane, and when the first of them
-- happened. $1: destination, $2: patterns of its topics, $3: limit per lane, $4: whether it has one order for
-- everything.
select coalesce(sum(m.messages), 0)::bigint, min(m.first)
from (select distinct on (lane) * from {schema}.cursor where destination = $1 order by lane, turn desc) c
cross join lateral (
    select count(*) as messages, min(r.occurred_at) as first from (
        select m.occurred_at from {schema}.message m
        where ($4 or {schema}.lane_of(m.key, m.seq) = c.lane)
        and (m.seq > c.f or m.xid = any (array(select pg_snapshot_xip(c.p))))
        and not pg_visible_in_snapshot(m.xid, c.p)
        and (c.s is null or m.seq > c.last or not pg_visible_in_snapshot(m.xid, c.s))
        and m.topic like any ($2)
        limit $3) r) m
