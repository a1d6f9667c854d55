-- Removes the sessions that nobody holds any more. $1: destination, $2: our own session.
with gone as (
    delete from {schema}.session s where s.destination = $1 and s.session <> $2
    and pg_try_advisory_xact_lock(s.session) returning s.session, s.unexplained)
select count(*), coalesce(bool_or(unexplained), false), coalesce(array_agg(session), '{}')::text from gone
