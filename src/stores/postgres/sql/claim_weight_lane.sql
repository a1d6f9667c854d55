sum(octet_length(z.payload)) over (order by z.seq rows unbounded preceding) - octet_length(z.payload)
