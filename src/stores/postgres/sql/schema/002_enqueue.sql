-- Enqueue from any language: select {schema}.enqueue('orders.placed', '{"id":1}'::jsonb, key => 'ada'). One message,
-- in the caller's own transaction; the answer is its id. With the caller's own rights: whoever may insert may call.
-- The id is drawn here and not read back, so that writers need no right to read.

-- Says what is wrong with headers; null: nothing. The limits are those of the C++ enqueue.
create function {schema}.headers_flaw(headers jsonb) returns text language plpgsql immutable as $body$
declare
    name text;
    value jsonb;
    number integer := 0;
begin
    if jsonb_typeof(headers) <> 'object' then
        return 'headers must be a JSON object of texts';
    end if;
    for name, value in select e.key, e.value from jsonb_each(headers) as e loop
        number := number + 1;
        if jsonb_typeof(value) <> 'string' then
            return format('header %s must be a text, not %s', quote_literal(name), jsonb_typeof(value));
        end if;
        if name = '' then
            return 'a header has no name';
        end if;
        if name || (value #>> '{}') ~ '[\x01-\x1f\x7f]' then
            return format('header %s contains a control character', quote_literal(name));
        end if;
        if greatest(octet_length(name), octet_length(value #>> '{}')) > 8192 then
            return format('header %s has more than 8192 bytes', quote_literal(left(name, 100)));
        end if;
    end loop;
    if number > 64 then
        return format('headers has %s entries, the limit is 64', number);
    end if;
    return null;
end
$body$;

create function {schema}.enqueue(
    topic text, payload bytea, key text default null, type text default null, headers jsonb default null,
    content_type text default null, deliver_after timestamptz default null, id uuid default null
) returns uuid language plpgsql volatile as $body$
#variable_conflict use_variable
declare
    own uuid := coalesce(id, gen_random_uuid());
    flaw text := case
        when coalesce(topic, '') = '' then 'topic is empty: every message needs one'
        when octet_length(topic) > 255 then format('topic has %s bytes, the limit is 255', octet_length(topic))
        when octet_length(key) > 1024 then format('key has %s bytes, the limit is 1024', octet_length(key))
        when payload is null then 'payload is null: an empty one is '''''
        when octet_length(payload) > 67108864
            then format('payload has %s bytes, the limit is 67108864', octet_length(payload))
        when greatest(octet_length(type), octet_length(content_type)) > 8192
            then 'type or content_type has more than 8192 bytes'
        when concat(type, content_type) ~ '[\x01-\x1f\x7f]' then 'type or content_type contains a control character'
        when deliver_after = 'infinity' then 'deliver_after is infinity: the message would wait for ever'
        when id = '00000000-0000-0000-0000-000000000000' then 'id is the nil id, which names nothing'
        when headers is not null then {schema}.headers_flaw(headers) end;
begin
    if flaw is not null then
        raise exception 'outrider: %', flaw using errcode = 'invalid_parameter_value';
    end if;
    insert into {schema}.message (id, topic, key, type, payload, content_type, headers, deliver_after)
    values (own, topic, nullif(key, ''), type, payload, content_type, nullif(headers, '{}'), deliver_after);
    return own;
end
$body$;

-- Text travels as UTF-8, whatever the encoding of the database.
create function {schema}.enqueue(
    topic text, payload text, key text default null, type text default null, headers jsonb default null,
    content_type text default null, deliver_after timestamptz default null, id uuid default null
) returns uuid language sql volatile as $body$
    select {schema}.enqueue($1, convert_to($2, 'UTF8'), $3, $4, $5, $6, $7, $8)
$body$;

create function {schema}.enqueue(
    topic text, payload jsonb, key text default null, type text default null, headers jsonb default null,
    content_type text default null, deliver_after timestamptz default null, id uuid default null
) returns uuid language sql volatile as $body$
    select {schema}.enqueue($1, convert_to($2::text, 'UTF8'), $3, $4, $5, coalesce($6, 'application/json'), $7, $8)
$body$;

revoke execute on function
    {schema}.headers_flaw(jsonb),
    {schema}.enqueue(text, bytea, text, text, jsonb, text, timestamptz, uuid),
    {schema}.enqueue(text, text, text, text, jsonb, text, timestamptz, uuid),
    {schema}.enqueue(text, jsonb, text, text, jsonb, text, timestamptz, uuid)
from public;
