-- Derives the rows of some keys anew. Leans on parked_chain and dead_holding.
insert into {schema}.parked_key (destination, order_key, lane, due_at)
select $1, k.order_key, coalesce(p.lane, d.lane), case when d.lane is null then p.due_at end
from unnest($2::bigint[]) as k(order_key)
left join lateral (select lane, due_at from {schema}.parked
    where destination = $1 and order_key = k.order_key order by seq limit 1) p on true
left join lateral (select lane from {schema}.dead
    where destination = $1 and order_key = k.order_key and holds_key limit 1) d on true
where p.lane is not null or d.lane is not null
on conflict (destination, order_key) do update set lane = excluded.lane, due_at = excluded.due_at
