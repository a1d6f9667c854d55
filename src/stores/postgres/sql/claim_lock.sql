-- Locks free lanes: a statement of its own, since the snapshot of the read must be younger than the locks. $1:
-- keys of the lanes' locks, $2: the lanes in the same order, $3: how many to take at most. Takes advisory locks
-- that end with the transaction, and no transaction id. Whoever may not write (a standby, a server that was fenced or
-- has run out of disk) could hand messages out but never settle them, and would do so again and again.
select set_config('outrider.lanes', coalesce((
    select array_agg(lane)::text from (
        select lane from unnest($1::bigint[], $2::smallint[]) as l(lock, lane)
        where pg_try_advisory_xact_lock(lock) limit $3) taken), '{}'), true),
    current_setting('transaction_read_only')::boolean
