-- Transactions that hold back truncation: with an id older than the one that closed a segment, or open for a minute.
with h as (
    select 'pid ' || pid || ' of ' || coalesce(usename, '?') || ' in database ' || coalesce(datname, '?') as name,
        backend_xid as id, xact_start as since, coalesce(query_start, xact_start) as query_start
    from pg_stat_activity where backend_xid is not null and pid <> pg_backend_pid()
    union all
    select 'prepared transaction ' || quote_literal(gid) || ' of ' || owner || ' in database ' || database,
        transaction, prepared, prepared
    from pg_prepared_xacts)
select h.name, extract(epoch from clock_timestamp() - h.since)::bigint,
    to_char(h.query_start at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS "UTC"')
from h
where h.since < clock_timestamp() - interval '1 minute' or exists (
    select from {schema}.segment g where g.closed_by is not null
    and age(h.id) > age((g.closed_by::text::numeric % 4294967296)::bigint::text::xid))
order by h.since limit 20
