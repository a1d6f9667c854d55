select count(*) from {table} t where {buried} and {wanted}
