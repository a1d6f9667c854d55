-- Lanes that nobody has moved for half a minute although messages wait that the destination takes, unless it is paused.
-- The writer may have set the time of a message: only one of the last half minute may be new.
select d.name, count(*), max(extract(epoch from {now} - c.moved_at))::bigint
from {schema}.destination d
cross join lateral (select *, array[lane::bigint] as lanes from {schema}.cursor where destination = d.id) c
cross join lateral (
    select array(select replace(replace(replace(replace(t, '\', '\\'), '%', '\%'), '_', '\_'), '*', '%')
        from jsonb_array_elements_text(d.topics) as t) as patterns) t
cross join lateral (select min(r.occurred_at) as occurred_at from ({pending}) r) m
where not d.paused and c.moved_at < {now} - interval '30 seconds'
and m.occurred_at not between {now} - interval '30 seconds' and {now}
group by d.name order by d.name
