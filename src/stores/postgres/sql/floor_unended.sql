-- A row, and a moment later, if ids from $1 on and below $2 are in progress.
select pg_sleep(0.001) where exists (
    select from pg_snapshot_xip(pg_current_snapshot()) x where x >= $1::text::xid8 and x < $2::text::xid8)
