-- What is left in the table: rows that were given up on, and rows that are neither that, nor pending, nor delivered.
select count(*) filter (where {buried}), count(*) filter (where {odd} and not {buried}) from {table} t where {wanted}
