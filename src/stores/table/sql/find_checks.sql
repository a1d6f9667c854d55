-- The conditions that a table puts on one column alone. $1: the table's oid, $2: the column.
select c.conname::text, pg_get_expr(c.conbin, c.conrelid)
from pg_constraint c join pg_attribute a on a.attrelid = c.conrelid and a.attname = $2
where c.conrelid = $1::bigint::oid and c.contype = 'c' and c.conkey = array[a.attnum] order by c.conname
