{bytes}::bigint <= $4
