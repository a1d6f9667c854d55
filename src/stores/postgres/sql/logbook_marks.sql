-- Marks of nobody, and those in the hand of a session that has ended.
select seq, ends, session is not null from {schema}.mark
where destination = $1 and (session is null or session = any ($2::bigint[])) order by seq
