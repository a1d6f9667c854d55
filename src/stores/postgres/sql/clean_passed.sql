-- Whether every destination has passed all of a closed segment: every row of it has an id below closed_by. Under
-- the segment's lock, in read committed.
select coalesce(bool_and(pg_snapshot_xmin(c.p) >= g.closed_by), false)
from {schema}.segment g, {schema}.cursor c where g.segment = $1
