-- Messages behind a number, in their order; times in microseconds since 1970.
select seq, {schema}.id_of(id, seq, occurred_at)::text, topic, key, type, payload, content_type,
    (extract(epoch from occurred_at) * 1000000)::bigint, (extract(epoch from deliver_after) * 1000000)::bigint
from {schema}.message where seq > $1::bigint order by seq
