-- $1: where the rows lie, $2: in which part of the table, $3: how many there are, then one array per value.
with settled as (
    update {table} t set {fail}
    from unnest($1::tid[], $4::bigint[], $5::text[], $6::timestamptz[], $7::boolean[])
        as v(place, attempts, error, due, dead)
    where t.ctid = v.place and t.ctid = any ($1::tid[]) and t.tableoid = $2::bigint::oid returning true
)
select 1 / (count(*) = $3)::integer from settled
