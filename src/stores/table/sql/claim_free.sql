-- Whatever is due and nobody holds, oldest first. $1: rows, $2: bytes, $3: ids to pass over, $4: the
-- only ids that matter. A payload is turned into what is sent once, and only within the bytes: as it is stored, which
-- may be compressed, and then as it is. OFFSET keeps the planner from writing that twice.
with got as materialized (
    select {id_text} as id, {key} as key, t.ctid as place, t.tableoid as part, {message_id} as message_id,
        {topic} as topic, {type} as type, {content_type} as content_type, {headers} as headers,
        {occurred} as occurred, {attempts} as attempts, {stored} as stored, {raw} as raw
    from {table} t where {alive} and {wanted} and {chosen} and coalesce({due} <= clock_timestamp(), true)
    and ({id} in (select unnest($3::{id_type}[]))) is not true
    order by {order} limit $1 for update skip locked
), near as (
    select g.*, sum(g.stored) over (rows unbounded preceding) - g.stored >= $2 as far from got g
), sized as (
    select n.*, case when not n.far then {sent} end as payload from near n offset 0
), summed as (
    select s.*, s.far or coalesce(
        sum(octet_length(s.payload)) over (rows unbounded preceding) - octet_length(s.payload) >= $2, false) as over
    from sized s
)
select m.id, m.key, null::timestamptz, false, false, m.place::text, m.part::bigint, m.message_id, m.topic, m.type,
    m.content_type, m.headers, m.occurred, m.attempts, m.over, case when not m.over then m.payload end,
    clock_timestamp()
from summed m
