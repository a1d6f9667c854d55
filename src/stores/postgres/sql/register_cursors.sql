-- Where all lanes begin. $2: how many, $3: from now on, or else from the oldest, where nothing was handled, $4: the
-- sequence, read before another transaction drew and completed an id, and therefore a floor of this snapshot.
insert into {schema}.progress (destination, turn, lane, lanes, delivered, p, f, nf)
select $1, 0, 0, array(select generate_series(0, $2::integer - 1)), array_fill(0, array[$2::integer]),
    case when $3 then pg_current_snapshot() else '3:3:'::pg_snapshot end,
    case when $3 then $4 else 0 end, case when $3 then $4 else 0 end
on conflict (destination, turn, lane) do nothing
