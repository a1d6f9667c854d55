-- The keys whose first message is due, longest waiting first. Leans on outrider_parked_key_due.
select order_key from outrider_parked_key
where destination = ?1 and due_at <= ?2 order by due_at limit ?3
