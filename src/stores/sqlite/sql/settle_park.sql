-- A message of the log begins to wait.
insert into outrider_parked
    (destination, seq, order_key, attempts, refused_at, due_at, error,
     id, topic, key, type, payload, content_type, headers, occurred_at)
select ?1, seq, ?3, ?4, ?5, ?6, ?7, lower(id), topic, key, type, payload, content_type, headers, occurred_at
from outrider_message where seq = ?2
on conflict (destination, seq) do nothing
