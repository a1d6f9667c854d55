-- Everything about destinations that needs no look at the log.
select d.id, d.name, d.topics, d.position, d.paused, d.delivered, d.sample_at, d.sample_delivered, d.circuit,
    d.circuit_reason,
    (select count(*) from outrider_parked p where p.destination = d.id),
    (select count(*) from outrider_parked_key k where k.destination = d.id),
    (select count(*) from outrider_dead x where x.destination = d.id),
    (select o.error from (
        select p.error from outrider_parked p where p.destination = d.id order by p.seq limit 1000) o
        where o.error <> '' limit 1)
from outrider_destination d order by d.name
