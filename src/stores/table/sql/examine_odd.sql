-- Rows that nobody will deliver and nobody has, counted up to a limit, and the status of one of them. $1: the limit.
select count(*), min(n.status) from (select {status} as status from {table} t where {odd} limit $1) n
