-- A message of the log dies.
insert into outrider_dead
    (destination, seq, order_key, holds_key, attempts, error, died_at,
     id, topic, key, type, payload, content_type, headers, occurred_at)
select ?1, seq, ?3, ?4, ?5, ?6, ?7, lower(id), topic, key, type, payload, content_type, headers, occurred_at
from outrider_message where seq = ?2
on conflict (destination, seq) do nothing
