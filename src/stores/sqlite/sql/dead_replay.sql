-- A dead letter waits again, due now, with a fresh count; dead_discard follows.
insert into outrider_parked
    (destination, seq, order_key, attempts, refused_at, due_at, error,
     id, topic, key, type, payload, content_type, headers, occurred_at)
select destination, seq, order_key, 0, null, ?3, error,
    id, topic, key, type, payload, content_type, headers, occurred_at
from outrider_dead where destination = ?1 and seq = ?2
on conflict (destination, seq) do nothing
