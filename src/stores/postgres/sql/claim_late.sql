(select seq, segment, {schema}.lane_of(m.key, m.seq)::smallint as lane, id, topic, key, type, payload,
    content_type, headers, occurred_at, deliver_after
from {schema}.message_{segment} m where m.xid = i and ({lane}) and m.seq > w.last and m.seq <= w.f
order by seq limit $2)
