-- Later rows become messages in the transaction that writes them, and are settled in the table at once, so that nobody
-- delivers them from there: rows that are inserted, and rows that an update makes pending (drafts that are released,
-- dead ones that are replayed). The writer needs no right on the log: the function has those of who made it.
create or replace function {log}.forward_{oid}() returns trigger language plpgsql security definer
set search_path = pg_catalog, pg_temp as $forward$
begin
    if tg_op = 'UPDATE' then
        if (select {alive} from (select old.*) t) then
            return null;
        end if;
    end if;
    insert into {log}.message (id, topic, key, type, payload, content_type, headers, occurred_at, deliver_after)
    select {message_id}, ({topic})::{log}.limited_topic, ({key})::{log}.limited_key, {type},
        ({bytes})::{log}.limited_payload, {content_type}, {headers}::jsonb,
        coalesce({occurred}, clock_timestamp()), case when {due} > clock_timestamp() then {due} end
    from (select new.*) t where {alive};
    if found then
        {settle} where {id} = {new_id} and {alive};
    end if;
    return null;
end
$forward$;
revoke all on function {log}.forward_{oid}() from public;
drop trigger if exists outrider_forward on {table};
create trigger outrider_forward after insert or update on {table}
for each row execute function {log}.forward_{oid}();
