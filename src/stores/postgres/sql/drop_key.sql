-- Removes the rows of keys that nothing holds back any more.
delete from {schema}.parked_key k where k.destination = $1 and k.order_key = any ($2::bigint[])
and not exists (select from {schema}.parked p where p.destination = $1 and p.order_key = k.order_key)
and not exists (select from {schema}.dead d where d.destination = $1 and d.order_key = k.order_key and d.holds_key)
