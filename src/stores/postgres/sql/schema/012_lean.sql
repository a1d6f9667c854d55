-- What a writer pays for. An id that nobody gives is not drawn and stored any more (11,000 of an insert's 98,000
-- instructions): it follows from the message's moment and number, see id_of. Topics and keys are judged where they are
-- read, and a message that nobody could deliver becomes a dead letter (8,000); enqueue() and the libraries refuse it at
-- once, as before. The headers' check costs next to nothing where there are none. One register says both which segment
-- is active and whether somebody sleeps (7,000): while somebody does, its last value counts as not called.
alter table {schema}.message alter column id drop default, alter column id drop not null;
alter domain {schema}.topic drop constraint "outrider: topic must have 1 to 255 bytes";
alter domain {schema}.key drop constraint "outrider: key must have at most 1024 bytes";
-- For statements of our own that want to be told.
create domain {schema}.limited_topic as text
    constraint "outrider: topic must have 1 to 255 bytes" check (octet_length(value) between 1 and 255);
create domain {schema}.limited_key as text
    constraint "outrider: key must have at most 1024 bytes" check (octet_length(value) <= 1024);

-- What tells ids of this log from those of another.
alter table {schema}.setting add column origin bigint;
update {schema}.setting set origin = ('x' || right(replace(gen_random_uuid()::text, '-', ''), 16))::bit(64)::bigint;

-- The id of a message: the one it was given, or else one of UUID's version 7, made of the moment it occurred at and of
-- its number. The same as log_id.h has it. With the moment in it a number that is drawn again, in a log that was set
-- back to an old state, does not make the old id again.
create function {schema}.id_of(id uuid, seq bigint, occurred_at timestamptz) returns uuid
language sql stable parallel safe as $body$
    select coalesce($1, (
        select (lpad(to_hex((m.seconds * 1000 + m.micros / 1000) & 281474976710655), 12, '0')
            || to_hex(28672 | (m.micros % 1000 << 2)::integer)
            || to_hex(($2 # s.origin) & 4611686018427387903 | (-9223372036854775808)))::uuid
        from {schema}.setting s cross join lateral (
            select extract(epoch from date_trunc('second', t.at))::bigint as seconds,
                extract(microseconds from t.at)::bigint % 1000000 as micros
            from (select least(greatest($3, timestamptz '0001-01-01 00:00:00+00'),
                timestamptz '9999-12-31 23:59:59.999999+00') as at) t) m))
$body$;

-- Wakes a sleeping relay, as ring() did, and says which segment is active.
create function {schema}.wake() returns bigint language plpgsql as $body$
begin
    if coalesce(current_setting('outrider.bell', true), '') <> 'off' then
        perform pg_notify('{channel}', '');
    end if;
    return (select last_value from {schema}.active);
end
$body$;
alter table {schema}.message alter column segment
    set default coalesce(pg_sequence_last_value('{schema}.active'::regclass), {schema}.wake());
drop function {schema}.ring();
drop sequence {schema}.bell;

create function {schema}.are_headers(headers jsonb) returns boolean language plpgsql immutable strict as $body$
begin
    return jsonb_typeof(headers) = 'object' and octet_length(headers #>> '{}') <= 2097152;
end
$body$;
alter domain {schema}.headers add constraint "outrider: headers must be a JSON object of at most 2 MiB"
    check ({schema}.are_headers(value)) not valid;
alter domain {schema}.headers drop constraint "outrider: headers must be a JSON object";
alter domain {schema}.headers drop constraint "outrider: headers must have at most 2 MiB of text";
