-- Keys whose pending rows have several topics: how many, and one of them.
select count(*), min(n.key) from (
    select {key} as key from {table} t where {alive} and {wanted} and {key} is not null
    group by 1 having min({topic}) <> max({topic})) n
