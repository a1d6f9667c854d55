-- Messages of one segment die.
insert into {schema}.dead (destination, lane, seq, order_key, holds_key, attempts, error, died_at,
    id, topic, key, type, payload, content_type, headers, occurred_at)
select $1, v.lane, m.seq, v.order_key, v.holds_key, v.attempts, v.error, {now},
    {schema}.id_of(m.id, m.seq, m.occurred_at), m.topic, m.key, m.type, m.payload, m.content_type,
    m.headers, m.occurred_at
from unnest($2::smallint[], $3::bigint[], $4::bigint[], $5::integer[], $6::boolean[], $7::text[])
    as v(lane, seq, order_key, attempts, holds_key, error)
cross join lateral (select * from {schema}.message_{segment} r where r.seq = v.seq limit 1) m
on conflict (destination, seq) do nothing
