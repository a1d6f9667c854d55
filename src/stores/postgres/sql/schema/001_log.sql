-- {schema} is the quoted name of the schema, {lanes} the number of lanes, a power of two, fixed for the life of the
-- log; {lane_mask} is one less.
create schema if not exists {schema};

-- Numbers of messages. CACHE 1 matters: a larger one reorders.
create sequence {schema}.seq cache 1;

-- Which segment new messages go to. A register: read with pg_sequence_last_value, moved with setval, locks
-- nobody out.
create sequence {schema}.active minvalue 1 maxvalue 4 cache 1;
select setval('{schema}.active', 1);

-- 1 while a relay sleeps and wants to be rung.
create sequence {schema}.bell minvalue 0 maxvalue 1 start 0 cache 1;
select setval('{schema}.bell', 0);

create table {schema}.setting (
    only_one boolean primary key default true check (only_one),
    lanes integer not null,
    system_identifier bigint not null,
    timeline integer not null
);
insert into {schema}.setting (lanes, system_identifier, timeline)
select {lanes}, s.system_identifier, c.timeline_id from pg_control_system() s, pg_control_checkpoint() c;

-- The limits of a message. Domains, since the checks of a table are read anew for every statement (10 of an insert's
-- 40 microseconds).
create domain {schema}.topic as text
    constraint "outrider: topic must have 1 to 255 bytes" check (octet_length(value) between 1 and 255);
create domain {schema}.key as text
    constraint "outrider: key must have at most 1024 bytes" check (octet_length(value) <= 1024);
create domain {schema}.payload as bytea
    constraint "outrider: payload must have at most 64 MiB" check (octet_length(value) <= 67108864);
create domain {schema}.headers as jsonb
    constraint "outrider: headers must be a JSON object" check (jsonb_typeof(value) = 'object');

-- Wakes a sleeping relay, and says which segment is active. The server sends one ring per transaction, however often
-- it is asked. NOTIFY and PREPARE TRANSACTION exclude each other, so writers with two-phase commit say
-- "set outrider.bell = off" and are found by polling.
create function {schema}.ring() returns integer language plpgsql as $ring$
begin
    if coalesce(current_setting('outrider.bell', true), '') <> 'off' then
        perform pg_notify('{channel}', '');
    end if;
    return pg_sequence_last_value('{schema}.active'::regclass);
end
$ring$;

-- The log: written by INSERT only, never updated, never locked by row, emptied by whole segments. Defaults are
-- evaluated in the order of the columns, and the transaction must have its id before it looks at the bell, reads the
-- segment and draws the number. The bell hangs in a default, since the WHEN of a trigger is read and planned anew for
-- every statement (24,000 of an insert's 177,000 instructions).
create table {schema}.message (
    xid xid8 not null default pg_current_xact_id(),
    segment integer not null default case when pg_sequence_last_value('{schema}.bell'::regclass) = 1
        then {schema}.ring() else pg_sequence_last_value('{schema}.active'::regclass) end,
    seq bigint not null default nextval('{schema}.seq'),
    id uuid not null default gen_random_uuid(),
    topic {schema}.topic not null,
    key {schema}.key,
    type text,
    payload {schema}.payload not null,
    content_type text,
    headers {schema}.headers,
    occurred_at timestamptz not null default clock_timestamp(),
    deliver_after timestamptz
) partition by list (segment);

create table {schema}.message_1 partition of {schema}.message for values in (1);
create table {schema}.message_2 partition of {schema}.message for values in (2);
create table {schema}.message_3 partition of {schema}.message for values in (3);
create table {schema}.message_4 partition of {schema}.message for values in (4);

-- The lane of a message: messages of a key share one, those without a key take turns. No column, and in the indexes as
-- an expression: a generated column is read and planned anew for every insert (10 of its 28 microseconds). Queries say
-- lane_of(m.key, m.seq); it is inlined, and then is what the indexes have.
create function {schema}.lane_of(key text, seq bigint) returns bigint language sql immutable parallel safe as $lane$
    select coalesce(hashtextextended(key, bigint '0'), seq) & bigint '{lane_mask}'
$lane$;
create index message_lane
    on {schema}.message ((coalesce(hashtextextended(key, bigint '0'), seq) & bigint '{lane_mask}'), seq);
create index message_xid
    on {schema}.message (xid, (coalesce(hashtextextended(key, bigint '0'), seq) & bigint '{lane_mask}'), seq);

-- closed_by: an id drawn after the rotation that left the segment; null while it is active or empty.
create table {schema}.segment (
    segment integer primary key,
    opened_at timestamptz,
    closed_by xid8,
    closed_at timestamptz
);
insert into {schema}.segment (segment, opened_at) values (1, {now}), (2, null), (3, null), (4, null);

create table {schema}.destination (
    id integer primary key generated always as identity,
    name text not null unique,
    topics jsonb not null,
    paused boolean not null default false,
    circuit text not null default 'closed',
    circuit_reason text not null default ''
);

-- How far a destination has come in a lane; insert-only, the newest turn holds. p: everything visible in it was
-- handled. f: every id at or above p's xmax has numbers above it. s, sf, u, last: the window that is open, its
-- floor, the largest number when it was opened, how far it was read. nf: the floor that the next window will
-- get.
create table {schema}.cursor (
    destination integer not null,
    lane smallint not null,
    turn bigint not null,
    p pg_snapshot not null,
    f bigint not null,
    s pg_snapshot,
    sf bigint,
    u bigint,
    last bigint,
    nf bigint not null,
    delivered bigint not null,
    primary key (destination, lane, turn)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

create table {schema}.parked (
    destination integer not null,
    lane smallint not null,
    seq bigint not null,
    order_key bigint not null,
    attempts integer not null,
    refused_at timestamptz,
    due_at timestamptz not null,
    error text not null,
    id uuid not null,
    topic text not null,
    key text,
    type text,
    payload bytea not null,
    content_type text,
    headers jsonb,
    occurred_at timestamptz not null,
    primary key (destination, seq)
);
create index parked_chain on {schema}.parked (destination, order_key, seq);

-- One row per key that is held back; due_at null while a dead letter holds it.
create table {schema}.parked_key (
    destination integer not null,
    order_key bigint not null,
    lane smallint not null,
    due_at timestamptz,
    primary key (destination, order_key)
);
create index parked_key_due on {schema}.parked_key (destination, lane, due_at);

create table {schema}.dead (
    destination integer not null,
    lane smallint not null,
    seq bigint not null,
    order_key bigint not null,
    holds_key boolean not null,
    attempts integer not null,
    error text not null,
    died_at timestamptz not null,
    id uuid not null,
    topic text not null,
    key text,
    type text,
    payload bytea not null,
    content_type text,
    headers jsonb,
    occurred_at timestamptz not null,
    primary key (destination, seq)
);
create index dead_id on {schema}.dead (id);
create index dead_holding on {schema}.dead (destination, order_key) where holds_key;

create table {schema}.sample (
    destination integer primary key,
    at timestamptz not null,
    delivered bigint not null
);
