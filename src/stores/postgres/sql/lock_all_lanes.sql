-- Takes the lock that sessions of a destination share ($1) and those of its lanes ($2) until the transaction ends, or
-- fails (55P03). A relay that has just stopped holds them for another moment, since its server ends a session when it
-- comes to it: so whoever shows itself is waited for. Behind a pooler nobody does, and a lane that is locked is a turn
-- of a relay that will go on. In the order of their keys, so that two who wait do not wait for each other. What others
-- have set for the rest of the transaction stays.
with patience as materialized (
    select current_setting('lock_timeout') as before,
        set_config('lock_timeout', case when {is_locked} then '5s' else '1ms' end, true)),
taken as materialized (
    select count(pg_advisory_xact_lock(lock)) from patience cross join lateral (
        select l as lock from unnest($1::bigint || $2::bigint[]) l order by l) s)
select set_config('lock_timeout', before, true) from patience, taken
