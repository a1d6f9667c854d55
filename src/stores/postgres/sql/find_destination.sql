-- $2: topics to compare with, or null.
select id, topics::text, cursors, topics = $2::jsonb, ordering from {schema}.destination d
cross join lateral (select count(*) as cursors from {schema}.cursor where destination = d.id) c
where name = $1
