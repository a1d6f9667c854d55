-- Passed messages of one lane wait again, due now. The caller has the lane's lock, and took it in a statement before.
insert into {schema}.parked (destination, lane, seq, order_key, attempts, refused_at, due_at, error,
    id, topic, key, type, payload, content_type, headers, occurred_at)
select $1, r.cursor_lane, r.seq, r.order_key, 0, null, {now}, 'replayed',
    {schema}.id_of(r.id, r.seq, r.occurred_at), r.topic, r.key, r.type, r.payload, r.content_type,
    r.headers, r.occurred_at
from {rows} r
