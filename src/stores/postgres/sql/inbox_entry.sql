-- One arrival: whether its id is new to the consumer, and the highest position of its key before. $1: consumer, $2: id,
-- $3: topic, $4: key, $5: position or null, $6: retention.
select c.is_new,
    case when c.is_new and $5::bigint is not null
        then {schema}.inbox_advance($1, $3, $4, $5::bigint, $6::interval) end
from (select {schema}.inbox_claim($1, $2::uuid, $6::interval) as is_new offset 0) c
