-- Headers that no relay could read, since their text is longer than a value may be, would stop their destination. A
-- message has at most 64 of 8192 bytes.
alter domain {schema}.headers add constraint "outrider: headers must have at most 2 MiB"
    check (pg_column_size(value) <= 2097152) not valid;

-- Lanes and order are hashes of the bytes of a key, so they are others in another encoding: see adopt.
alter table {schema}.setting add column encoding text;
update {schema}.setting set encoding = current_setting('server_encoding')
where system_identifier = (select system_identifier from pg_control_system())
and database_oid = (select oid::bigint from pg_database where datname = current_database());
