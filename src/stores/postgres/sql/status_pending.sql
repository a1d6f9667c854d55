-- Messages that a destination has still to see, counted up to a limit per lane, and when the first of them
-- happened. $1: destination, $2: patterns of its topics, $3: limit per lane. A destination with one cursor has one
-- order for all lanes.
with c as materialized (
    select distinct on (lane) * from {schema}.cursor where destination = $1 order by lane, turn desc),
n as (select case when count(*) = 1 then (select lanes from {schema}.setting) else 1 end as lanes from c)
select coalesce(sum(m.messages), 0)::bigint, min(m.first)
from c cross join n
cross join lateral generate_series(c.lane::bigint, c.lane + n.lanes - 1) as l(lane)
cross join lateral (select count(*) as messages, min(r.occurred_at) as first from ({pending}) r) m
