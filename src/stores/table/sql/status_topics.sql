-- Topics of what waits, up to a limit of rows. $1: the limit.
select n.topic, count(*) from (select {topic} as topic from {table} t where {pending} limit $1) n
group by n.topic order by n.topic
