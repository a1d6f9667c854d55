-- The waiting messages of one key, in their order. Leans on outrider_parked_chain.
select seq, id, topic, key, type, payload, content_type, headers, occurred_at, due_at, attempts, refused_at
from outrider_parked where destination = ?1 and order_key = ?2 order by seq limit ?3
