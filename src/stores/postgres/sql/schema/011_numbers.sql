-- One index for the log, by number: writers paid for two, each with the lane of a message in it, more than for all the
-- rest of a message. Lanes are told apart where messages are read. On a log that is in use `migrate up` builds the
-- parts of it first, beside the writers, and this only gives them their parent. By hand, each for itself:
--     create index concurrently message_1_seq_idx on {schema}.message_1 (seq);  -- and 2, 3, 4
create index message_seq on {schema}.message (seq);
drop index {schema}.message_lane, {schema}.message_xid;

-- For each id that is in progress in p, in its order: the messages of that transaction have numbers above this one.
-- Those that are missing may have any.
alter table {schema}.cursor add column late bigint[] not null default '{}';

-- As in step 8, without an index that finds a transaction: among the newest million numbers. Whoever asks has lost its
-- connection just now.
create or replace function {schema}.commit_outcome(xid xid8, id uuid) returns text
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $body$
declare
    status text := pg_xact_status($1);
begin
    if status = 'committed' and not exists (select from {schema}.message m
        where m.seq > pg_sequence_last_value('{schema}.seq'::regclass) - 1000000 and m.xid = $1 and m.id = $2)
    then
        return null;
    end if;
    return status;
end
$body$;
