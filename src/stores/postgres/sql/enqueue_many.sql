-- Messages, in their order: one array per column. What is empty is null, or gets its default; no nulls in the arrays,
-- which a session may read as texts (array_nulls).
insert into {schema}.message (id, topic, key, type, payload, content_type, headers, occurred_at, deliver_after)
select id, topic, nullif(key, ''), nullif(type, ''), payload, nullif(content_type, ''), nullif(headers, '')::jsonb,
    coalesce(nullif(occurred_at, '')::timestamptz, clock_timestamp()), nullif(deliver_after, '')::timestamptz
from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::bytea[], $6::text[], $7::text[], $8::text[],
    $9::text[]) with ordinality
    as m(id, topic, key, type, payload, content_type, headers, occurred_at, deliver_after, place)
order by place
