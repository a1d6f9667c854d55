-- The rows of the keys that were locked before, in a snapshot of its own, oldest first. A row that somebody else
-- holds is skipped by `got` and still listed by `seen`: it holds back its key.
-- $1: rows, $2: bytes, $3: keys, $4 and $5: where the look for keys ended, $6: ids to pass over, $7: the only ids
-- without a key that matter.
with got as materialized (
    select t.ctid as place, t.tableoid as part, {message_id} as message_id, {topic} as topic,
        {type} as type, {content_type} as content_type, {headers} as headers, {occurred} as occurred,
        {attempts} as attempts, {size} as size, {payload} as payload
    from {table} t where {alive} and {wanted} and {mine} and {bound} and coalesce({due} <= clock_timestamp(), true)
    and ({id} in (select unnest($6::{id_type}[]))) is not true
    order by {order} limit $1 for update skip locked
), seen as materialized (
    select n.*, row_number() over () as number from (
        select {id_text} as id, {key} as key, {due} as due, {buried} as buried, t.ctid as place, t.tableoid as part
        from {table} t where {listed} and {wanted} and {ready} and {mine} and {bound}
        and ({id} in (select unnest($6::{id_type}[]))) is not true
        order by {order} limit $1) n
)
select s.id, s.key, s.due, s.buried, g.place is null as skipped, g.place::text, g.part::bigint, g.message_id, g.topic,
    g.type, g.content_type, g.headers, g.occurred, g.attempts,
    coalesce(sum(g.size) over (order by s.number rows unbounded preceding) - g.size >= $2, false) as over,
    case when sum(g.size) over (order by s.number rows unbounded preceding) - g.size < $2 then g.payload end,
    clock_timestamp()
from seen s left join got g on g.place = s.place and g.part = s.part order by s.number
