-- Whose transaction ids the log speaks of: of this database, of this cluster, on this timeline. Not the timeline of the
-- last checkpoint, which may be older than a promotion. A log that was restored elsewhere keeps what it had, and is
-- refused until it is adopted.
alter table {schema}.setting add column database_oid bigint;
alter table {schema}.setting add column follows_promotion boolean not null default false;
update {schema}.setting set
    database_oid = (select oid::bigint from pg_database where datname = current_database()),
    timeline = ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::integer
where system_identifier = (select system_identifier from pg_control_system())
and timeline = (select timeline_id from pg_control_checkpoint());
