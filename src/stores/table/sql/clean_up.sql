-- Delivered rows that are older than the retention time, a few at a time; never one that is not delivered. $1:
-- microseconds, $2: how many. The moment is asked for once, so that an index may be searched by it.
delete from {table} t where {id} = any (array(
    select {id} from {table} t where {done}
    and {done_at} < (select clock_timestamp() - $1::bigint * interval '1 microsecond')
    limit $2 for update skip locked)) and {done}
and {done_at} < clock_timestamp() - $1::bigint * interval '1 microsecond'
