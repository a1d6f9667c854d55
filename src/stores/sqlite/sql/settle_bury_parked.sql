-- A waiting message dies; settle_unpark follows.
insert into outrider_dead
    (destination, seq, order_key, holds_key, attempts, error, died_at,
     id, topic, key, type, payload, content_type, headers, occurred_at)
select ?1, seq, ?3, ?4, ?5, ?6, ?7, id, topic, key, type, payload, content_type, headers, occurred_at
from outrider_parked where destination = ?1 and seq = ?2
on conflict (destination, seq) do nothing
