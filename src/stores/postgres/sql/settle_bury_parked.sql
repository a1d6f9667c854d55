-- Waiting messages die; settle_unpark follows.
insert into {schema}.dead (destination, lane, seq, order_key, holds_key, attempts, error, died_at,
    id, topic, key, type, payload, content_type, headers, occurred_at)
select $1, m.lane, m.seq, v.order_key, v.holds_key, v.attempts, v.error, {now},
    m.id, m.topic, m.key, m.type, m.payload, m.content_type, m.headers, m.occurred_at
from unnest($2::smallint[], $3::bigint[], $4::bigint[], $5::integer[], $6::boolean[], $7::text[])
    as v(lane, seq, order_key, attempts, holds_key, error)
join {schema}.parked m on m.destination = $1 and m.seq = v.seq
on conflict (destination, seq) do nothing
