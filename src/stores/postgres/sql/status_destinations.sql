-- Everything about destinations that needs no look at the log.
select d.id, d.name, d.topics::text, d.paused, d.circuit, d.circuit_reason,
    (select count(*) from {schema}.parked p where p.destination = d.id),
    (select count(*) from {schema}.parked_key k where k.destination = d.id),
    (select count(*) from {schema}.dead x where x.destination = d.id),
    coalesce((select sum(c.delivered)::bigint from {schema}.cursor c where c.destination = d.id), 0),
    coalesce((select ((c.total - s.delivered) / greatest(extract(epoch from clock_timestamp() - s.at), 0.001))::float8
        from {schema}.sample s, (
            select sum(n.delivered) as total from {schema}.cursor n where n.destination = d.id) c
        where s.destination = d.id), 0)::float8,
    (select o.error from (
        select p.error, p.refused_at from {schema}.parked p where p.destination = d.id order by p.seq limit 1000) o
        where o.error <> '' and o.refused_at is not null limit 1)
from {schema}.destination d order by d.name
