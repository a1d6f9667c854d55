-- When the next key falls due. Leans on outrider_parked_key_due.
select min(due_at) from outrider_parked_key where destination = ?1 and due_at > ?2
