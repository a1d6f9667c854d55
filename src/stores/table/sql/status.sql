-- How a destination stands, counted up to a limit. $1: the limit. A row without a time, or with an infinite one, has no
-- age.
select (select count(*) from (select from {table} t where {alive} and {wanted} and {attempts} = 0 limit $1) n),
    (select count(*) from (select from {table} t where {alive} and {wanted} and {attempts} > 0 limit $1) n),
    (select count(*) from (select from {table} t where {buried} and {wanted} limit $1) n),
    (select greatest(extract(epoch from clock_timestamp() - n.at), 0)::float8 from (
        select {occurred} as at from {table} t where {alive} and {wanted} and isfinite({occurred})
        order by {order} limit 1) n),
    (select {error} from {table} t where {alive} and {wanted} and {attempts} > 0 and {error} <> '' limit 1)
