-- Whether writers ring although nobody sleeps, whether the numbers were set back below what a cursor has passed, and
-- whether the segment that writers write to is one that is open.
-- $1: the lock that sleepers share.
select (select not is_called from {schema}.active) and not exists (
    select from pg_locks l join pg_database d on d.oid = l.database
    where l.locktype = 'advisory' and l.objsubid = 1 and d.datname = current_database()
    and (l.classid::bigint << 32 | l.objid::bigint) = $1::bigint),
    exists (select from {schema}.cursor where f > coalesce(pg_sequence_last_value('{schema}.seq'::regclass), 0)),
    exists (select from {schema}.segment g where g.segment = (select last_value from {schema}.active)
        and g.opened_at is not null and g.closed_by is null)
