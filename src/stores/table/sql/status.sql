-- How a destination stands, counted up to a limit. $1: the limit. $2: ids that a relay of this process holds back, $3:
-- keys. What waits by the table's own word, and what is behind it in its key, is parked and not pending: `stuck` has
-- the first such row of each key. A row without a time, or with an infinite one, has no age.
with stuck as materialized (
    select distinct on (n.lane) n.lane, n.place from (
        select {lane} as lane, row({order}) as place from {table} t where {stuck} and {wanted} limit $1) n
    order by n.lane, n.place
)
select (select count(*) from (
        select from {table} t where {alive} and {wanted} and not {waits} and not {behind} limit $1) n),
    (select count(*) from (select from {table} t where {alive} and {wanted} and {waits} limit $1) n)
        + (select count(*) from (
            select from {table} t where {alive} and {wanted} and not {waits} and {behind} limit $1) n),
    (select count(*) from (select from {table} t where {buried} and {wanted} limit $1) n),
    (select greatest(extract(epoch from clock_timestamp() - n.at), 0)::float8 from (
        select {occurred} as at from {table} t
        where {alive} and {wanted} and not {waits} and not {behind} and isfinite({occurred})
        order by {order} limit 1) n),
    (select {error} from {table} t where {alive} and {wanted} and {attempts} > 0 and {error} <> '' limit 1),
    (select count(*) from (
        select from {table} t where {alive} and {wanted} and not {waits} and not {behind}
        and ({id} in (select unnest($2::{id_type}[])) or {lane} in (select unnest($3::text[]))) limit $1) n)
