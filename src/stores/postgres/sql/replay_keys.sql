-- Derives the rows of all keys of a lane that have waiting messages. Leans on parked_chain. $1: destination, $2: lane.
insert into {schema}.parked_key as k (destination, order_key, lane, due_at)
select $1, h.order_key, $2, case when not exists (select from {schema}.dead d
    where d.destination = $1 and d.order_key = h.order_key and d.holds_key) then h.due_at end
from (select distinct on (order_key) order_key, due_at from {schema}.parked
    where destination = $1 and lane = $2 order by order_key, seq) h
on conflict (destination, order_key) do update set lane = excluded.lane, due_at = excluded.due_at
where k.due_at is distinct from excluded.due_at
