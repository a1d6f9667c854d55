-- Says whether somebody sleeps, beside the active segment in one register: nobody else may set it meanwhile.
begin;
select pg_advisory_xact_lock({register_lock});
select setval('{schema}.active', last_value, {awake}) from {schema}.active;
commit;
