-- Transactions that were begun before the id $1 and have not ended.
select x from pg_snapshot_xip(pg_current_snapshot()) x where x < $1::text::xid8
