-- Whatever is due and nobody holds, oldest first. $1: rows, $2: bytes, $3: ids to pass over, $4: the
-- only ids that matter.
with got as materialized (
    select {id_text} as id, {key} as key, t.ctid as place, t.tableoid as part, {message_id} as message_id,
        {topic} as topic, {type} as type, {content_type} as content_type, {headers} as headers,
        {occurred} as occurred, {attempts} as attempts, {size} as size, {payload} as payload
    from {table} t where {alive} and {wanted} and {chosen} and coalesce({due} <= clock_timestamp(), true)
    and ({id} in (select unnest($3::{id_type}[]))) is not true
    order by {order} limit $1 for update skip locked
)
select g.id, g.key, null::timestamptz, false, false, g.place::text, g.part::bigint, g.message_id, g.topic, g.type,
    g.content_type, g.headers, g.occurred, g.attempts,
    sum(g.size) over (rows unbounded preceding) - g.size >= $2 as over,
    case when sum(g.size) over (rows unbounded preceding) - g.size < $2 then g.payload end, clock_timestamp()
from got g
