insert into {schema}.destination (name, topics) values ($1, $2)
on conflict (name) do update set topics = excluded.topics
