-- Messages that a destination has still to see, counted up to a limit per lane, and when the first of them
-- happened. $1: destination, $2: patterns of its topics, $3: limit per lane.
with c as materialized ({groups})
select coalesce(sum(m.messages), 0)::bigint, min(m.first)
from c cross join lateral (select count(*) as messages, min(r.occurred_at) as first from ({pending}) r) m
