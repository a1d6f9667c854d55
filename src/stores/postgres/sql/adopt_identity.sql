-- From now on the log belongs here. $1: whether later promotions of this cluster need no adoption; null: as before.
update {schema}.setting set system_identifier = (select system_identifier from pg_control_system()),
    database_oid = (select oid::bigint from pg_database where datname = current_database()),
    timeline = ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::integer,
    encoding = current_setting('server_encoding'), follows_promotion = coalesce($1::boolean, follows_promotion)
returning follows_promotion
