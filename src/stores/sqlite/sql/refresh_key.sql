-- Derives the row of one key anew. Leans on outrider_parked_chain and outrider_dead_holding.
insert into outrider_parked_key (destination, order_key, due_at)
select ?1, ?2, case
    when exists (select 1 from outrider_dead where destination = ?1 and order_key = ?2 and holds_key) then null
    else (select due_at from outrider_parked where destination = ?1 and order_key = ?2 order by seq limit 1) end
where exists (select 1 from outrider_parked where destination = ?1 and order_key = ?2)
   or exists (select 1 from outrider_dead where destination = ?1 and order_key = ?2 and holds_key)
on conflict (destination, order_key) do update set due_at = excluded.due_at
