-- Removes turns that a newer one has replaced.
delete from {schema}.cursor c using (
    select destination, lane, max(turn) as turn from {schema}.cursor group by destination, lane) n
where c.destination = n.destination and c.lane = n.lane and c.turn < n.turn
