select d.id, d.topics, d.ordering, exists (select 1 from outrider_parked_key k where k.destination = d.id)
from outrider_destination d where d.name = ?1
