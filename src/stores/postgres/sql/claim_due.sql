-- Due keys of the locked lanes, longest waiting first, with the messages that wait in each, in order. Payloads
-- beyond the byte limit are not sent. Leans on parked_key_due and parked_chain; the moment is asked for once, since
-- the index is not searched by one that may change from row to row. $1: destination, $2: keys, and messages of a key,
-- at most, $3: messages at most, $4: bytes at most.
select z.order_key, z.lane, z.seq, z.id, z.topic, z.key, z.type, case when z.before <= $4 then z.payload end,
    z.content_type, z.headers, z.occurred_at, z.due_at, z.attempts, z.refused_at
from (
    select p.*, sum(octet_length(p.payload)) over (rows unbounded preceding) - octet_length(p.payload) as before
    from (
        select h.order_key, h.due_at from unnest(current_setting('outrider.lanes')::smallint[]) as l(lane)
        cross join lateral (
            select order_key, due_at from {schema}.parked_key
            where destination = $1 and lane = l.lane and due_at <= (select {now})
            order by due_at limit $2) h
        order by h.due_at limit $2) k
    cross join lateral (
        select * from {schema}.parked where destination = $1 and order_key = k.order_key
        order by seq limit $2) p
    limit $3) z
