-- Rows are found by where they lie: nobody can move a row that we have locked. The planner would rather read the
-- whole table.
select set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true)
