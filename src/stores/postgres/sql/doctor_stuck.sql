-- Lanes with messages that a destination takes and that have waited for a minute, unless it is paused. Leans on
-- (lane, seq).
select d.name, count(*), max(extract(epoch from {now} - m.occurred_at))::bigint
from {schema}.destination d
cross join lateral (select distinct on (lane) * from {schema}.cursor where destination = d.id
    order by lane, turn desc) c
cross join lateral (
    select m.occurred_at from {schema}.message m
    where (d.ordering = 'global' or {schema}.lane_of(m.key, m.seq) = c.lane)
    and (m.seq > c.f or m.xid = any (array(select pg_snapshot_xip(c.p))))
    and not pg_visible_in_snapshot(m.xid, c.p)
    and (c.s is null or m.seq > c.last or not pg_visible_in_snapshot(m.xid, c.s))
    and m.topic like any (array(select replace(replace(replace(replace(t, '\', '\\'), '%', '\%'), '_', '\_'), '*', '%')
        from jsonb_array_elements_text(d.topics) as t))
    limit 1) m
where not d.paused and m.occurred_at < {now} - interval '1 minute'
group by d.name order by d.name
