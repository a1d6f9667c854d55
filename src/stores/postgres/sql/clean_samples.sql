-- Notes how much was delivered, at least ten seconds after the last time: the rate is reckoned from it.
insert into {schema}.sample (destination, at, delivered)
select d.id, clock_timestamp(), coalesce((
    select sum(c.delivered) from {schema}.cursor c where c.destination = d.id), 0)
from {schema}.destination d
on conflict (destination) do update set at = excluded.at, delivered = excluded.delivered
where {schema}.sample.at < clock_timestamp() - interval '10 seconds'
