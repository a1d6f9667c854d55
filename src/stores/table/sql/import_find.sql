-- Which row the log does not take: one by one, up to the first. Only ever run to be rolled back.
do $find$
declare
    one {table}%rowtype;
begin
    for one in select t.* from {table} t where {alive} and {wanted} order by {order} loop
        begin
            insert into {log}.message (id, topic, key, type, payload, content_type, headers, occurred_at, deliver_after)
            select {message_id}, ({topic})::{log}.limited_topic, ({key})::{log}.limited_key, {type},
                ({bytes})::{log}.limited_payload, {content_type}, {headers}::jsonb,
                coalesce({occurred}, clock_timestamp()), case when {due} > clock_timestamp() then {due} end
            from (select one.*) t;
        exception when data_exception or integrity_constraint_violation then
            raise exception using errcode = sqlstate,
                message = format('the row with id %s does not fit: %s', {one_id}::text, sqlerrm);
        end;
    end loop;
end
$find$
