select id, topics::text, cursors from {schema}.destination d
cross join lateral (select count(distinct lane) as cursors from {schema}.cursor where destination = d.id) c
where name = $1
