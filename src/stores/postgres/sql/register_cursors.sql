-- A cursor per lane. $2: how many, $3: from now on, or else from the oldest, where nothing was handled, $4: the
-- sequence, read before another transaction drew and completed an id, and therefore a floor of this snapshot.
insert into {schema}.cursor (destination, lane, turn, p, f, nf, delivered)
select $1, lane, 0, case when $3 then pg_current_snapshot() else '3:3:'::pg_snapshot end,
    case when $3 then $4 else 0 end, case when $3 then $4 else 0 end, 0
from generate_series(0, $2 - 1) as l(lane)
on conflict (destination, lane, turn) do nothing
