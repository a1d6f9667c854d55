(select min(k.due_at) from unnest(current_setting('outrider.lanes')::smallint[]) as l(lane)
    cross join lateral (select due_at from {schema}.parked_key
        where destination = $1 and lane = l.lane and due_at > (select {now})
        order by due_at limit 1) k)
