-- Which messages have had their effect, for each consumer, until their retention is over. The unique key decides who
-- is first. In plain SQL, inside the transaction of the effect:
--     insert into outrider_inbox (consumer, id) values (?, ?) on conflict do nothing
-- has changed one row if the message is new, and none if it had its effect already.
create table outrider_inbox (
    consumer text not null constraint "outrider: consumer must be text of 1 to 63 characters" check (
        typeof(consumer) = 'text' and length(consumer) between 1 and 63
    ),
    id text not null collate nocase
    constraint "outrider: id must be a UUID such as 0189f7ea-ae2c-7809-8aeb-b819cf5e9e7f" check (
        typeof(id) = 'text' and id glob '????????-????-????-????-????????????'
        and length(replace(id, '-', '')) = 32 and id not glob '*[^-0-9a-fA-F]*'
    ),
    expires_at integer not null default (
        cast((julianday('now') - 2440587.5 + 7) * 86400000.0 + 0.5 as integer)
    ) constraint "outrider: expires_at must be an integer, milliseconds since 1970" check (
        typeof(expires_at) = 'integer'
    ),
    primary key (consumer, id)
) without rowid;
create index outrider_inbox_expiry on outrider_inbox (expires_at);

-- How far each consumer has come in each key, for messages that carry their position. previous: what position was
-- before the last change.
create table outrider_inbox_position (
    consumer text not null,
    topic text not null,
    key text not null,
    position integer not null,
    previous integer,
    expires_at integer not null,
    primary key (consumer, topic, key)
) without rowid;
create index outrider_inbox_position_expiry on outrider_inbox_position (expires_at);
