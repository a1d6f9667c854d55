-- The next messages go to another segment. Whether somebody sleeps stays as it is, see bell_set.sql.
select pg_advisory_xact_lock({register_lock});
select setval('{schema}.active', {segment}, is_called) from {schema}.active;
