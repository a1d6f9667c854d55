-- Commits that wait for another one that rings: each takes this lock of the whole cluster, and keeps it until its disk
-- has answered.
select count(*) from pg_locks
where locktype = 'object' and database = 0 and classid = 'pg_database'::regclass and objid = 0 and not granted
