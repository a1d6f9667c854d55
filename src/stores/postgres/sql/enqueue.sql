-- One message. What is null gets its default.
insert into {schema}.message (id, topic, key, type, payload, content_type, headers, occurred_at, deliver_after)
values ($1::uuid, $2::text, $3::text, $4::text, $5::bytea, $6::text, $7::jsonb,
    coalesce($8::timestamptz, clock_timestamp()), $9::timestamptz)
