delete from {schema}.dead where destination = $1 and seq = $2
