-- Which messages have had their effect, for each consumer, until their retention is over. The unique key decides who
-- is first.
create table {schema}.inbox (
    consumer text not null
        constraint "outrider: consumer must have 1 to 63 bytes" check (octet_length(consumer) between 1 and 63),
    id uuid not null,
    expires_at timestamptz not null,
    primary key (consumer, id)
);
create index inbox_expiry on {schema}.inbox (expires_at);

-- How far each consumer has come in each key, for messages that carry their position. previous: what position was
-- before the last change.
create table {schema}.inbox_position (
    consumer text not null,
    topic text not null,
    key text not null,
    position bigint not null,
    previous bigint,
    expires_at timestamptz not null,
    primary key (consumer, topic, key)
) with (fillfactor = 80);
create index inbox_position_expiry on {schema}.inbox_position (expires_at);

-- Records a message in the caller's transaction. True: it is new to this consumer, so have the effect now. False: it
-- had its effect already. Waits for a copy that is under way elsewhere.
create function {schema}.inbox_claim(consumer text, id uuid, retention interval default interval '7 days')
returns boolean language plpgsql as $$
begin
    insert into {schema}.inbox (consumer, id, expires_at) values ($1, $2, {now} + $3) on conflict do nothing;
    return found;
end $$;

-- Notes the position of a new message. Returns the highest one of its key before, null if none is known. The expiry
-- moves in steps of an eighth, so that most changes touch no index.
create function {schema}.inbox_advance(
    consumer text, topic text, key text, "position" bigint, retention interval default interval '7 days')
returns bigint language plpgsql as $$
declare
    before bigint;
begin
    insert into {schema}.inbox_position as p (consumer, topic, key, position, previous, expires_at)
    values ($1, $2, $3, $4, null, {now} + $5)
    on conflict on constraint inbox_position_pkey do update set
        previous = p.position, position = greatest(p.position, excluded.position),
        expires_at = case when excluded.expires_at > p.expires_at + $5 / 8 then excluded.expires_at
            else p.expires_at end
    returning p.previous into before;
    return before;
end $$;

-- Forgets at most so many entries whose retention is over. Returns how many.
create function {schema}.inbox_clean_up(piece integer default 1000)
returns bigint language plpgsql as $$
declare
    records bigint;
    positions bigint;
begin
    delete from {schema}.inbox where ctid = any (array(
        select i.ctid from {schema}.inbox i where i.expires_at <= {now}
        order by i.expires_at limit $1 for update skip locked));
    get diagnostics records = row_count;
    delete from {schema}.inbox_position where ctid = any (array(
        select i.ctid from {schema}.inbox_position i where i.expires_at <= {now}
        order by i.expires_at limit $1 - records for update skip locked));
    get diagnostics positions = row_count;
    return records + positions;
end $$;
