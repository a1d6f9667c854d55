-- The destination, locked, so that two who enter at once do not both inherit the same.
select id from {schema}.destination where name = $1 for update
