-- Whether a relay serves a destination. $1: the lock that its sessions share for as long as they are open, $2: those of
-- the lanes, since behind a pooler a relay holds nothing between its turns.
select exists (
    select from pg_locks l join pg_database d on d.oid = l.database
    where l.locktype = 'advisory' and l.objsubid = 1 and d.datname = current_database()
    and (l.classid::bigint << 32 | l.objid::bigint) = any ($1::bigint || $2::bigint[]))
