-- For the session, or where a pooler may hand it to somebody else for this transaction only ($4). The plan is pinned:
-- right after a truncation the statistics say that a segment is empty, and the planner would sort the whole backlog.
-- Where policies would hide messages it is an error, since a message that is not seen is passed over.
-- $1: how long the broker may take, and a margin; a relay that freezes loses its lanes by it. $2: off or on. $3:
-- statement_timeout.
select set_config('jit', 'off', $4), set_config('enable_seqscan', 'off', $4),
    set_config('enable_bitmapscan', 'off', $4), set_config('enable_sort', 'off', $4),
    set_config('idle_in_transaction_session_timeout', $1, $4), set_config('synchronous_commit', $2, $4),
    set_config('statement_timeout', $3, $4), set_config('search_path', 'pg_catalog', $4),
    set_config('plan_cache_mode', 'force_generic_plan', $4), set_config('row_security', 'off', $4),
    set_config('array_nulls', 'on', $4)
