-- Whether the log belongs to the database it is in: cluster, database, timeline. A standby cannot say its timeline.
select s.system_identifier = c.system_identifier, s.database_oid is not distinct from d.oid::bigint,
    s.timeline = t.timeline or s.follows_promotion, s.timeline, t.timeline, t.timeline is null
from {schema}.setting s, pg_control_system() c, pg_database d,
    (select case when not pg_is_in_recovery()
        then ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::integer end as timeline) t
where d.datname = current_database()
