-- All dead letters of one message, payload included. Leans on dead_id.
select d.name, x.seq, x.id, x.topic, x.key, x.type, x.content_type, x.headers, x.occurred_at, x.attempts, x.error,
    x.died_at, x.holds_key, x.payload, x.destination, x.order_key, x.lane
from {schema}.dead x join {schema}.destination d on d.id = x.destination
where x.id = $1 order by d.name
