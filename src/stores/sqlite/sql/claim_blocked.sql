-- Whether a key is held back. Leans on the primary key.
select 1 from outrider_parked_key where destination = ?1 and order_key = ?2
