(select seq, segment, {lane}::smallint as lane, id, topic, key, type, payload, content_type, headers,
    occurred_at, deliver_after
from {schema}.message_{segment} m
where {schema}.lane_of(m.key, m.seq) = {lane} and m.seq > greatest(w.last, w.f) and m.seq <= w.u
and pg_visible_in_snapshot(m.xid, w.s) and not pg_visible_in_snapshot(m.xid, w.p)
order by seq limit $2)
