-- Whether writers ring although nobody sleeps. $1: the lock that sleepers share.
select coalesce(pg_sequence_last_value('{schema}.bell'::regclass) = 1, false) and not exists (
    select from pg_locks l join pg_database d on d.oid = l.database
    where l.locktype = 'advisory' and l.objsubid = 1 and d.datname = current_database()
    and (l.classid::bigint << 32 | l.objid::bigint) = $1::bigint)
