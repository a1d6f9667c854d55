-- Messages of one segment begin to wait. $2..: one array per column.
insert into {schema}.parked (destination, lane, seq, order_key, attempts, refused_at, due_at, error,
    id, topic, key, type, payload, content_type, headers, occurred_at)
select $1, v.lane, m.seq, v.order_key, v.attempts, v.refused_at, v.due_at, v.error,
    {schema}.id_of(m.id, m.seq, m.occurred_at), m.topic, m.key, m.type, m.payload, m.content_type,
    m.headers, m.occurred_at
from unnest($2::smallint[], $3::bigint[], $4::bigint[], $5::integer[], $6::timestamptz[], $7::timestamptz[], $8::text[])
    as v(lane, seq, order_key, attempts, refused_at, due_at, error)
cross join lateral (select * from {schema}.message_{segment} r where r.seq = v.seq limit 1) m
on conflict (destination, seq) do nothing
