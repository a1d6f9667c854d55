-- With how many lanes have a place, and their newest turn. $2: topics to compare with, or null.
select id, topics::text, cursors, topics = $2::jsonb, ordering, newest from {schema}.destination d
cross join lateral (
    select count(distinct l.lane) as cursors, coalesce(max(c.turn), 0) as newest
    from {schema}.progress c cross join lateral unnest(c.lanes) as l(lane) where c.destination = d.id) c
where name = $1
