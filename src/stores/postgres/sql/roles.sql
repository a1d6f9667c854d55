-- The two roles of a schema, and what each may do: {writer} enqueues and uses the inbox, {relay} relays, cleans up and
-- serves operators. Neither owns anything. Roles belong to the whole cluster, so they carry the schema's name. Run
-- after every migration, by the owner of the schema, as often as one likes: whoever adds a table names it here.
do $body$
declare
    role text;
begin
    foreach role in array array['{writer}', '{relay}'] loop
        if to_regrole(role) is not null then
            continue;
        end if;
        begin
            execute 'create role ' || role || ' nologin';
        exception
            when duplicate_object or unique_violation then null;  -- by another database of the cluster, just now
            when insufficient_privilege then
                raise warning 'outrider: role % is missing, and % may not create roles', role, current_user
                    using hint = 'Have a DBA run: create role ' || role || ' nologin; and then this again.';
        end;
    end loop;
    if to_regrole('{writer}') is not null then
        grant usage on schema {schema} to {writer};
        -- Never on xid, segment or seq: a row with a number of the writer's own choice is never delivered.
        grant insert (id, topic, key, type, payload, content_type, headers, occurred_at, deliver_after)
            on {schema}.message to {writer};
        grant usage on sequence {schema}.seq to {writer};
        -- To read the register, not to move it.
        grant select on sequence {schema}.active to {writer};
        -- By name, since a cluster may give nothing to everybody.
        grant execute on function
            {schema}.wake(), {schema}.commit_outcome(xid8, uuid), {schema}.headers_flaw(jsonb),
            {schema}.are_headers(jsonb), {schema}.no_headers(),
            {schema}.enqueue(text, bytea, text, text, jsonb, text, timestamptz, uuid),
            {schema}.enqueue(text, text, text, text, jsonb, text, timestamptz, uuid),
            {schema}.enqueue(text, jsonb, text, text, jsonb, text, timestamptz, uuid)
            to {writer};
        -- A consumer's own memory: ids and positions, no message.
        grant insert on {schema}.inbox to {writer};
        grant select, insert, update on {schema}.inbox_position to {writer};
        grant execute on function {schema}.inbox_claim(text, uuid, interval),
            {schema}.inbox_advance(text, text, text, bigint, interval) to {writer};
    end if;
    if to_regrole('{relay}') is not null then
        grant usage on schema {schema} to {relay};
        grant select on {schema}.message, {schema}.cursor, {schema}.setting, {schema}.schema_version to {relay};
        grant select, truncate on {schema}.message_1, {schema}.message_2, {schema}.message_3, {schema}.message_4
            to {relay};
        grant select, update on {schema}.segment to {relay};
        grant select, insert, update, delete on {schema}.destination, {schema}.progress, {schema}.parked,
            {schema}.parked_key, {schema}.dead, {schema}.sample, {schema}.session, {schema}.mark to {relay};
        grant select, update, delete on {schema}.inbox, {schema}.inbox_position to {relay};
        grant execute on function {schema}.inbox_clean_up(integer), {schema}.lane_of(text, bigint),
            {schema}.id_of(uuid, bigint, timestamptz) to {relay};
        grant select on sequence {schema}.seq to {relay};
        grant select, update on sequence {schema}.active to {relay};
    end if;
end
$body$;
