-- Rows are found by where they lie: nobody can move a row that we have locked. The planner would rather read the
-- whole table. What was delivered is worth waiting for, should a trigger want a lock: up to the statement's own limit.
select set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true),
    set_config('lock_timeout', '0', true)
