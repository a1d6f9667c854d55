octet_length(z.payload)::bigint
