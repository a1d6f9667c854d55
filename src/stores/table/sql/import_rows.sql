insert into {log}.message (id, topic, key, type, payload, content_type, headers, occurred_at, deliver_after)
select {message_id}, ({topic})::{log}.limited_topic, ({key})::{log}.limited_key, {type},
    ({bytes})::{log}.limited_payload, {content_type}, {headers}::jsonb,
    coalesce({occurred}, clock_timestamp()), case when {due} > clock_timestamp() then {due} end
from {table} t where {alive} and {wanted} order by {order}
