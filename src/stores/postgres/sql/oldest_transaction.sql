-- The transaction of this database that is open for longest, in words.
select o.name || ', open for ' || extract(epoch from clock_timestamp() - o.since)::bigint || ' s'
from (
    select 'pid ' || pid || ' of ' || coalesce(usename, '?') as name, xact_start as since
    from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and xact_start is not null
    union all
    select 'prepared transaction ' || quote_literal(gid) || ' of ' || owner, prepared
    from pg_prepared_xacts where database = current_database()) o
order by o.since limit 1
