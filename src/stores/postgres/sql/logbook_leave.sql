with free as (update {schema}.mark set session = null where destination = $1 and session = $2)
delete from {schema}.session where destination = $1 and session = $2
