-- Dead letters without payload, oldest first. Nulls do not filter.
select d.name, x.seq, x.id, x.topic, x.key, x.type, x.content_type, x.headers, x.occurred_at, x.attempts, x.error,
    x.died_at, x.holds_key, null, x.destination, x.order_key
from outrider_dead x join outrider_destination d on d.id = x.destination
where (?1 is null or d.name = ?1) and (?2 is null or x.id = ?2) and (?3 is null or coalesce(x.key, '') = ?3)
order by x.died_at, x.seq
