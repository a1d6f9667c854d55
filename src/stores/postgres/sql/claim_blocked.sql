-- Looked up in order, as if there could be more than one: a plan made while little is parked would take another index,
-- or hash them all (100,000 keys: 34 ms for every claim).
(select true from {schema}.parked_key k where k.destination = $1
    and k.order_key between case when {global} then 0 else m.order_key end
    and case when {global} then 0 else m.order_key end
    order by k.order_key limit 1) is not null
