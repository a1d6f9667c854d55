-- Messages of one lane that a destination had not handled begin to wait, due now or at their time. Handled is what
-- its snapshots say, in the ids of the old cluster, and only up to the last number that the old cluster had drawn when
-- the cursor moved last (nf): what was written here since then has ids and numbers of this one. Nobody writes
-- meanwhile. $1: destination, $2: lane of its cursor, $3: what it keeps in order, $4: patterns of its topics.
insert into {schema}.parked (destination, lane, seq, order_key, attempts, refused_at, due_at, error,
    id, topic, key, type, payload, content_type, headers, occurred_at)
select $1, c.lane, m.seq, case when $3 = 'global' then 0
        when $3 = 'none' or coalesce(m.key, '') = '' then hashint8extended(m.seq, 0)
        else hashtextextended(m.topic, hashtextextended(m.key, bigint '0')) end,
    0, null, greatest({now}, coalesce(m.deliver_after, {now})), 'adopted',
    {schema}.id_of(m.id, m.seq, m.occurred_at), m.topic, m.key, m.type, m.payload, m.content_type,
    m.headers, m.occurred_at
from (select lane, p::text::pg_snapshot as p, s::text::pg_snapshot as s, last, nf from {schema}.cursor
    where destination = $1 and lane = $2) c
join {schema}.message m on ($3 = 'global' or {schema}.lane_of(m.key, m.seq) = c.lane)
where m.topic like any ($4::text[])
and not (m.seq <= c.nf and (pg_visible_in_snapshot(m.xid, c.p)
    or (c.s is not null and m.seq <= c.last and pg_visible_in_snapshot(m.xid, c.s))))
and not exists (select from {schema}.dead d where d.destination = $1 and d.seq = m.seq)
on conflict (destination, seq) do nothing
