-- Dead letters wait again, due now, with a fresh count; dead_discard follows.
insert into {schema}.parked (destination, lane, seq, order_key, attempts, refused_at, due_at, error,
    id, topic, key, type, payload, content_type, headers, occurred_at)
select destination, lane, seq, order_key, 0, null, {now}, error,
    id, topic, key, type, payload, content_type, headers, occurred_at
from {schema}.dead where destination = $1 and seq = $2
on conflict (destination, seq) do nothing
