-- The server and its settings: version, standby, read-only, sees other sessions, fsync, full_page_writes, autovacuum,
-- transaction_timeout (none before 17), idle slots, asynchronous standbys, where synchronous_commit is off, the
-- time, the encoding.
select current_setting('server_version_num')::bigint, pg_is_in_recovery(),
    current_setting('default_transaction_read_only')::boolean, pg_has_role('pg_read_all_stats', 'usage'),
    current_setting('fsync')::boolean, current_setting('full_page_writes')::boolean,
    current_setting('autovacuum')::boolean,
    coalesce((select setting::bigint from pg_settings where name = 'transaction_timeout'), 0),
    array_to_string(array(select quote_ident(slot_name) from pg_replication_slots where not active order by 1), ','),
    (select count(*) from pg_stat_replication where sync_state = 'async'),
    array_to_string(array(
        select 'in this session' from pg_settings where name = 'synchronous_commit' and reset_val = 'off'
        union all
        select 'for ' || case when s.setrole = 0 then 'this database' else quote_ident(pg_get_userbyid(s.setrole)) end
        from pg_db_role_setting s, unnest(s.setconfig) as c(line)
        where lower(c.line) ~ '^synchronous_commit=(off|false|no|0)$'
        and s.setdatabase in (0, (select oid from pg_database where datname = current_database()))), ','),
    clock_timestamp(), current_setting('server_encoding')
