-- Whether anybody holds one of the advisory locks in {locks}, an array of their keys, in this database.
exists (
    select from pg_locks l join pg_database d on d.oid = l.database
    where l.locktype = 'advisory' and l.objsubid = 1 and d.datname = current_database()
    and (l.classid::bigint << 32 | l.objid::bigint) = any ({locks}))
