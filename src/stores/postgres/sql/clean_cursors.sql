-- Removes turns whose lanes all have a newer one.
with n as materialized (
    select destination, l.lane, max(turn) as turn from {schema}.progress cross join lateral unnest(lanes) as l(lane)
    group by destination, l.lane)
delete from {schema}.progress c
where not exists (
    select from n where n.destination = c.destination and n.turn = c.turn and n.lane = any (c.lanes))
