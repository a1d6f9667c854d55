-- Pending again, with a fresh count. Parameters as in dead_list.sql.
update {table} t set {revive} where {id} = any (array(
    select {id} from {table} t where {buried} and {wanted} and ($1::text is null or {message_id} = $1::text::uuid)
    and ($2::text is null or {key} = $2) and ($3::text is null or {topic} collate "C" like $3)
    order by {order} limit $4 for update)) and {buried} and {wanted}
