-- Waiting messages were refused once more.
update {schema}.parked p set order_key = v.order_key, attempts = v.attempts, refused_at = v.refused_at,
    due_at = v.due_at, error = v.error
from unnest($2::smallint[], $3::bigint[], $4::bigint[], $5::integer[], $6::timestamptz[], $7::timestamptz[], $8::text[])
    as v(lane, seq, order_key, attempts, refused_at, due_at, error)
where p.destination = $1 and p.seq = v.seq
