(
    -- Messages of one lane that a destination has passed, and that neither wait for it nor died. In an open window
    -- only what was read of it counts: the rest, late rows with low numbers too, is still to come by itself. Leans on
    -- (seq). $1: destination, $2: lane of its cursor, $3: what it keeps in order, $4: patterns of its topics,
    -- $5: from this number, $6: or from this moment, $7: topics like this, $8: of this key.
    select c.lane as cursor_lane, case when $3 = 'global' then 0
            when $3 = 'none' or coalesce(m.key, '') = '' then hashint8extended(m.seq, 0)
            else hashtextextended(m.topic, hashtextextended(m.key, bigint '0')) end as order_key, m.*
    from (select lane, p::text::pg_snapshot as p, s::text::pg_snapshot as s, last from {schema}.cursor
        where destination = $1 and lane = $2) c
    join {schema}.message m on ($3 = 'global' or {schema}.lane_of(m.key, m.seq) = c.lane)
        and m.seq >= coalesce($5::bigint, 0)
    where ($6::timestamptz is null or m.occurred_at >= $6)
    and m.topic like any ($4::text[]) and ($7::text is null or m.topic like $7)
    and ($8::text is null or coalesce(m.key, '') = $8)
    and (pg_visible_in_snapshot(m.xid, c.p)
        or (c.s is not null and m.seq <= c.last and pg_visible_in_snapshot(m.xid, c.s)))
    and not exists (select from {schema}.parked p where p.destination = $1 and p.seq = m.seq)
    and not exists (select from {schema}.dead d where d.destination = $1 and d.seq = m.seq)
)
