-- Whether an index of the table begins with the columns that order its rows, and how many rows it has. $1: the table's
-- oid, $2: those columns.
select exists (
    select from pg_index i where i.indrelid = $1::bigint::oid and i.indisvalid and $2::text[] = array(
        select a.attname::text from unnest(i.indkey[0:cardinality($2::text[]) - 1]) with ordinality as k(attnum, place)
        join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.attnum order by k.place)),
    (select greatest(c.reltuples, 0)::bigint from pg_class c where c.oid = $1::bigint::oid)
