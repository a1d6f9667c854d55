-- Which keys have something to do, oldest head first, and which of them are ours from now on. The locks are taken
-- on a finished list: a LIMIT above them would lock keys that nobody then reads. What is read here is never
-- delivered: whoever held a key may have settled between this snapshot and our lock.
-- $1: rows to look at, $2: keys to lock, $3: keys to pass over, $4: ids to pass over, $5: the only ids that matter.
with near as materialized (
    select n.*, row_number() over () as place from (
        select {key} as key, {created_text} as created, {id_text} as id from {table} t
        where {listed} and {wanted} and {ready} and {key} is not null and {chosen}
        and ({key} in (select unnest($3::text[]))) is not true
        and ({id} in (select unnest($4::{id_type}[]))) is not true
        order by {order} limit $1) n
), heads as materialized (
    select key, min(place) as place from near group by key order by min(place) limit $2
)
select h.key, pg_try_advisory_xact_lock(hashtextextended(h.key, {seed})), (select count(*) from near),
    (select created from near order by place desc limit 1), (select id from near order by place desc limit 1)
from heads h
