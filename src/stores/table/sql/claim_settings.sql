-- For this transaction only, since a pooler may hand the session to somebody else. $1: how long the broker may
-- take, and a margin; a relay that freezes loses its rows by it. $2: off or on. $3: how long to wait for somebody who
-- has locked the whole table; rows that are locked are passed over.
select set_config('jit', 'off', true), set_config('idle_in_transaction_session_timeout', $1, true),
    set_config('statement_timeout', $1, true), set_config('lock_timeout', $3, true),
    set_config('synchronous_commit', $2, true), clock_timestamp()
