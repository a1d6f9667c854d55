-- Due keys of the locked lanes, longest waiting first, with the messages that wait in each, in order. Payloads
-- beyond the byte limit are not sent. Leans on parked_key_due and parked_chain; the moment is asked for once, since
-- the index is not searched by one that may change from row to row. $1: destination, $2: keys, and messages of a key,
-- at most, $3: messages at most, $4: bytes at most.
select y.order_key, y.lane, y.seq, y.id, {topic}, {key}, case when y.before <= $4 then y.type end,
    case when y.before <= $4 then {payload} end, case when y.before <= $4 then y.content_type end,
    case when y.before <= $4 then y.headers end, y.occurred_at, y.due_at, y.attempts, y.refused_at
from (
    select z.*, sum({bytes}) over (rows unbounded preceding) - {bytes} as before
    from (
        select h.order_key, h.due_at from unnest(current_setting('outrider.lanes')::smallint[]) as l(lane)
        cross join lateral (
            select order_key, due_at from {schema}.parked_key
            where destination = $1 and lane = l.lane and due_at <= (select {now})
            order by due_at limit $2) h
        order by h.due_at limit $2) k
    cross join lateral (
        select * from {schema}.parked where destination = $1 and order_key = k.order_key
        order by seq limit $2) z
    limit $3) y
