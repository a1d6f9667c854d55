-- Later inserts become messages in the transaction that makes them, and are settled in the table at once, so that
-- nobody delivers them from there. The writer needs no right on the log: the function has those of who made it.
create or replace function {log}.forward_{oid}() returns trigger language plpgsql security definer
set search_path = pg_catalog, pg_temp as $forward$
begin
    insert into {log}.message (id, topic, key, type, payload, content_type, headers, occurred_at, deliver_after)
    select {message_id}, {topic}, {key}, {type}, {bytes}, {content_type}, {headers}::jsonb,
        coalesce({occurred}, clock_timestamp()), case when {due} > clock_timestamp() then {due} end
    from (select new.*) t where {pending};
    if found then
        {settle} where {id} = {new_id} and {pending};
    end if;
    return null;
end
$forward$;
revoke all on function {log}.forward_{oid}() from public;
drop trigger if exists outrider_forward on {table};
create trigger outrider_forward after insert on {table} for each row execute function {log}.forward_{oid}();
