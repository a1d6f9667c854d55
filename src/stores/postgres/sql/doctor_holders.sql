-- Transactions that hold back truncation: with an id older than the one that closed a segment, or open for $1 seconds,
-- with an id or with a lock on a segment, as whoever reads the log has.
with h as (
    select 'pid ' || pid || ' of ' || coalesce(usename, '?') || ' in database ' || coalesce(datname, '?') as name,
        backend_xid as id, xact_start as since, coalesce(query_start, xact_start) as query_start
    from pg_stat_activity a
    where pid <> pg_backend_pid() and (backend_xid is not null or exists (
        select from pg_locks l join pg_inherits i on i.inhrelid = l.relation
        where l.pid = a.pid and l.granted and i.inhparent = '{schema}.message'::regclass
        and l.database = (select oid from pg_database where datname = current_database())))
    union all
    select 'prepared transaction ' || quote_literal(gid) || ' of ' || owner || ' in database ' || database,
        transaction, prepared, prepared
    from pg_prepared_xacts)
select h.name, extract(epoch from clock_timestamp() - h.since)::bigint,
    to_char(h.query_start at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS "UTC"')
from h
where h.since < clock_timestamp() - $1 * interval '1 second' or exists (
    select from {schema}.segment g where g.closed_by is not null
    and age(h.id) > age((g.closed_by::text::numeric % 4294967296)::bigint::text::xid))
order by h.since limit 20
