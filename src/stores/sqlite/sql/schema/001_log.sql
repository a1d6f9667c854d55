-- The log. Rows are inserted by applications and removed by clean-up, never changed. SQLite's writers come one after
-- the other, so the number of a row is its place in the order of commits; autoincrement never uses a number twice.
-- A plain insert of topic, key and payload is a complete message.
create table outrider_message (
    seq integer primary key autoincrement,
    id text not null default (
        lower(hex(randomblob(4))) || '-' || lower(hex(randomblob(2))) || '-4' ||
        substr(lower(hex(randomblob(2))), 2) || '-' || substr('89ab', 1 + (random() & 3), 1) ||
        substr(lower(hex(randomblob(2))), 2) || '-' || lower(hex(randomblob(6)))
    ) constraint "outrider: id must be a UUID such as 0189f7ea-ae2c-7809-8aeb-b819cf5e9e7f" check (
        typeof(id) = 'text' and id glob '????????-????-????-????-????????????'
        and length(replace(id, '-', '')) = 32 and id not glob '*[^-0-9a-fA-F]*'
    ),
    topic text not null constraint "outrider: topic must be text of 1 to 255 characters" check (
        typeof(topic) = 'text' and length(topic) between 1 and 255
    ),
    key text constraint "outrider: key must be text of at most 1024 characters, or null" check (
        key is null or (typeof(key) = 'text' and length(key) <= 1024)
    ),
    type text,
    payload blob not null constraint "outrider: payload must be text or blob of at most 64 MiB" check (
        typeof(payload) in ('text', 'blob') and length(payload) <= 67108864
    ),
    content_type text,
    headers text constraint "outrider: headers must be a JSON object, or null" check (
        headers is null or case when json_valid(headers) then json_type(headers) = 'object' else 0 end
    ),
    occurred_at integer not null default (
        cast((julianday('now') - 2440587.5) * 86400000.0 + 0.5 as integer)
    ) constraint "outrider: occurred_at must be an integer, milliseconds since 1970" check (
        typeof(occurred_at) = 'integer'
    ),
    deliver_after integer
    constraint "outrider: deliver_after must be an integer, milliseconds since 1970, or null" check (
        typeof(deliver_after) in ('integer', 'null')
    )
);

-- For status: how many messages of which topic, without reading payloads.
create index outrider_message_topic on outrider_message (topic);

-- One row per destination: how far it has come, and what its relay last said.
create table outrider_destination (
    id integer primary key autoincrement,
    name text not null unique,
    topics text not null,
    position integer not null,
    turn integer not null default 0,
    paused integer not null default 0,
    delivered integer not null default 0,
    sample_at integer not null default 0,
    sample_delivered integer not null default 0,
    next_sample_at integer not null default 0,
    next_sample_delivered integer not null default 0,
    circuit text not null default 'closed',
    circuit_reason text not null default ''
);

-- A number chosen by the writer could lie behind a relay that has already passed it.
create trigger outrider_message_number after insert on outrider_message
when new.seq <= coalesce((select max(position) from outrider_destination), 0)
begin
    select raise(abort, 'outrider: leave out the column seq, the database draws it');
end;

-- Messages that wait: refused, not due yet, or behind such a message of the same key. They carry everything, so that
-- clean-up of the log never waits for them.
create table outrider_parked (
    destination integer not null,
    seq integer not null,
    order_key integer not null,
    attempts integer not null,
    refused_at integer,
    due_at integer not null,
    error text not null,
    id text not null,
    topic text not null,
    key text,
    type text,
    payload blob not null,
    content_type text,
    headers text,
    occurred_at integer not null,
    unique (destination, seq)
);
create index outrider_parked_chain on outrider_parked (destination, order_key, seq);

-- One row per key that is held back, derived from parked messages and dead letters that hold their key. due_at is that
-- of the first message; null while a dead letter holds the key. Finding what is due reads no messages.
create table outrider_parked_key (
    destination integer not null,
    order_key integer not null,
    due_at integer,
    primary key (destination, order_key)
) without rowid;
create index outrider_parked_key_due on outrider_parked_key (destination, due_at);

-- Messages that were given up on, until an operator replays or discards them.
create table outrider_dead (
    destination integer not null,
    seq integer not null,
    order_key integer not null,
    holds_key integer not null,
    attempts integer not null,
    error text not null,
    died_at integer not null,
    id text not null,
    topic text not null,
    key text,
    type text,
    payload blob not null,
    content_type text,
    headers text,
    occurred_at integer not null,
    unique (destination, seq)
);
create index outrider_dead_id on outrider_dead (id);
create index outrider_dead_holding on outrider_dead (destination, order_key) where holds_key;
