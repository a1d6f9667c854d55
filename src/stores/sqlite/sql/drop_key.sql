-- Removes the row of a key that nothing holds back any more.
delete from outrider_parked_key where destination = ?1 and order_key = ?2
and not exists (select 1 from outrider_parked where destination = ?1 and order_key = ?2)
and not exists (select 1 from outrider_dead where destination = ?1 and order_key = ?2 and holds_key)
