-- The rows of the keys that were locked before, in a snapshot of its own, oldest first. A row that somebody else
-- holds is skipped by `got` and still listed by `seen`: it holds back its key.
-- $1: rows, $2: bytes (see claim_free.sql), $3: keys, $4 and $5: where the look for keys ended, $6: ids to pass over,
-- $7: the only ids without a key that matter.
with got as materialized (
    select t.ctid as place, t.tableoid as part, {message_id} as message_id, {topic} as topic,
        {type} as type, {content_type} as content_type, {headers} as headers, {occurred} as occurred,
        {attempts} as attempts, {stored} as stored, {raw} as raw
    from {table} t where {alive} and {wanted} and {mine} and {bound} and coalesce({due} <= clock_timestamp(), true)
    and ({id} in (select unnest($6::{id_type}[]))) is not true
    order by {order} limit $1 for update skip locked
), seen as materialized (
    select n.*, row_number() over () as number from (
        select {id_text} as id, {key} as key, {due} as due, {buried} as buried, t.ctid as place, t.tableoid as part
        from {table} t where {listed} and {wanted} and {ready} and {mine} and {bound}
        and ({id} in (select unnest($6::{id_type}[]))) is not true
        order by {order} limit $1) n
), near as (
    select s.number, s.id, s.key, s.due, s.buried, g.*, coalesce(
        sum(g.stored) over (order by s.number rows unbounded preceding) - g.stored >= $2, false) as far
    from seen s left join got g on g.place = s.place and g.part = s.part
), sized as (
    select n.*, case when not n.far then {sent} end as payload from near n order by n.number offset 0
), summed as (
    select s.*, s.far or coalesce(
        sum(octet_length(s.payload)) over (order by s.number rows unbounded preceding) - octet_length(s.payload) >= $2,
        false) as over
    from sized s
)
select m.id, m.key, m.due, m.buried, m.place is null as skipped, m.place::text, m.part::bigint, m.message_id, m.topic,
    m.type, m.content_type, m.headers, m.occurred, m.attempts, m.over, case when not m.over then m.payload end,
    clock_timestamp()
from summed m order by m.number
