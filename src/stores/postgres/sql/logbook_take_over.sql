update {schema}.mark set session = $3 where destination = $1 and session = any ($2::bigint[])
