-- Whether an index makes sure that a column alone is unique, in the whole table. $1: the table's oid, $2: the column.
select exists (
    select from pg_index i join pg_attribute a on a.attrelid = i.indrelid and a.attnum = i.indkey[0]
    where i.indrelid = $1::bigint::oid and i.indisunique and i.indisvalid and i.indpred is null and i.indnkeyatts = 1
    and a.attname = $2)
