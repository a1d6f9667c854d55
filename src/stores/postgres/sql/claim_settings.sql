-- For this transaction only, since a pooler may hand the session to somebody else. The plan is pinned: right
-- after a truncation the statistics say that a segment is empty, and the planner would sort the whole backlog.
-- $1: how long the broker may take, and a margin; a relay that freezes loses its lanes by it. $2: off or on. $3:
-- statement_timeout.
select set_config('jit', 'off', true), set_config('enable_seqscan', 'off', true),
    set_config('enable_bitmapscan', 'off', true), set_config('enable_sort', 'off', true),
    set_config('idle_in_transaction_session_timeout', $1, true), set_config('synchronous_commit', $2, true),
    set_config('statement_timeout', $3, true), set_config('search_path', 'pg_catalog', true),
    set_config('plan_cache_mode', 'force_generic_plan', true)
