insert into {schema}.destination (name, topics, ordering) values ($1, $2, $3)
on conflict (name) do update set topics = excluded.topics, ordering = excluded.ordering
