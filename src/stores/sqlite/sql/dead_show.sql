-- All dead letters of one message, payload included. Leans on outrider_dead_id.
select d.name, x.seq, x.id, x.topic, x.key, x.type, x.content_type, x.headers, x.occurred_at, x.attempts, x.error,
    x.died_at, x.holds_key, x.payload, x.destination, x.order_key
from outrider_dead x join outrider_destination d on d.id = x.destination
where x.id = ?1 order by d.name
