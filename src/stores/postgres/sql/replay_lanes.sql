-- A destination and the lanes of its cursors.
select d.id, d.topics::text, d.ordering, array(select c.lane from {schema}.cursor c
    where c.destination = d.id order by c.lane)::text
from {schema}.destination d where d.name = $1
