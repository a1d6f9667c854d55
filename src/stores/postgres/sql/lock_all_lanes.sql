-- Waits for the lock that sessions of a destination share ($1) and for those of its lanes ($2), until the transaction
-- ends. A relay that has just stopped holds them for another moment: its server ends a session when it comes to it. So
-- five seconds, then an error (55P03); what others have set for the rest of the transaction stays.
with patience as materialized (
    select current_setting('lock_timeout') as before, set_config('lock_timeout', '5s', true)),
taken as materialized (
    select count(pg_advisory_xact_lock(l)) from patience, unnest($1::bigint || $2::bigint[]) l)
select set_config('lock_timeout', before, true) from patience, taken
