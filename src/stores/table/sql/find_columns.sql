-- The columns of a table. $1: its oid.
select a.attname::text, t.typname::text, format_type(a.atttypid, a.atttypmod), a.attnotnull or t.typnotnull,
    t.typcategory::text
from pg_attribute a join pg_type t on t.oid = a.atttypid
where a.attrelid = $1::bigint::oid and a.attnum > 0 and not a.attisdropped order by a.attnum
