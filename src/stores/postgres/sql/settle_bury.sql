-- Messages of one segment die.
insert into {schema}.dead (destination, lane, seq, order_key, holds_key, attempts, error, died_at,
    id, topic, key, type, payload, content_type, headers, occurred_at)
select $1, v.lane, m.seq, v.order_key, v.holds_key, v.attempts, v.error, {now},
    m.id, m.topic, m.key, m.type, m.payload, m.content_type, m.headers, m.occurred_at
from unnest($2::smallint[], $3::bigint[], $4::bigint[], $5::integer[], $6::boolean[], $7::text[],
    $8::smallint[]) as v(lane, seq, order_key, attempts, holds_key, error, message_lane)
cross join lateral (select * from {schema}.message_{segment} r
    where {schema}.lane_of(r.key, r.seq) = v.message_lane and r.seq = v.seq limit 1) m
on conflict (destination, seq) do nothing
