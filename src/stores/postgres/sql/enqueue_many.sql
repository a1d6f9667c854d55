-- Messages, in their order: one array per column. What is null gets its default.
insert into {schema}.message (id, topic, key, type, payload, content_type, headers, occurred_at, deliver_after)
select id, topic, key, type, payload, content_type, headers, coalesce(occurred_at, clock_timestamp()), deliver_after
from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::bytea[], $6::text[], $7::jsonb[], $8::timestamptz[],
    $9::timestamptz[]) with ordinality
    as m(id, topic, key, type, payload, content_type, headers, occurred_at, deliver_after, place)
order by place
