(select {segment} * bigint '65536' + case when {global} then 0 else {schema}.lane_of(m.key, m.seq) end as place, seq,
    id, topic, key, type, payload, content_type, headers, occurred_at, deliver_after
from {schema}.message_{segment} m
where m.seq > w.low and m.seq <= w.top and (w.whole or {schema}.lane_of(m.key, m.seq) = any (w.lanes))
and {until} and not pg_visible_in_snapshot(m.xid, w.p)
order by seq limit w.rows)
