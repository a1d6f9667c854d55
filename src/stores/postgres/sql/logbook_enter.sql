insert into {schema}.session (destination, session) values ($1, $2) on conflict do nothing
