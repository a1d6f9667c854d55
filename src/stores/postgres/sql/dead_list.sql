-- Dead letters without payload, oldest first. Nulls do not filter.
select d.name, x.seq, x.id, {topic}, {key}, x.type, x.content_type, x.headers, x.occurred_at, x.attempts, x.error,
    x.died_at, x.holds_key, null::bytea, x.destination, x.order_key, x.lane
from {schema}.dead x join {schema}.destination d on d.id = x.destination
where ($1::text is null or d.name = $1) and ($2::uuid is null or x.id = $2)
and ($3::text is null or coalesce(x.key, '') = $3) and ($4::text is null or x.topic like $4)
order by x.died_at, x.seq limit $5
