delete from {schema}.parked where destination = $1 and seq = any ($2::bigint[])
