-- Given up on, oldest first. $1: message id or null, $2: key or null, $3: pattern of the topic or null, $4: limit.
select {message_id}, {topic}, {key}, {type}, {content_type}, {headers}, {occurred}, {attempts}, {error}, {payload}
from {table} t where {buried} and {wanted} and ($1::text is null or {message_id} = $1::text::uuid)
and ($2::text is null or {key} = $2) and ($3::text is null or {topic} collate "C" like $3)
order by {order} limit $4
