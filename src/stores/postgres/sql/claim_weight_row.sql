{bytes}::bigint
