-- Moves lanes that stand together from now on, to the turn behind the newest that the claim saw ($2). If somebody has
-- moved one of them meanwhile, or has removed the row that they were claimed at ($3, its first lane $4), the division
-- fails, and nothing moves. Draws the transaction id if nothing before it did; nf was read before that, in the claim.
-- A statement for each place, with plain values: mostly there is one, and arrays of one element cost a half more.
-- Returns the id.
insert into {schema}.progress (destination, turn, lane, lanes, delivered, p, f, late, s, sf, sf_by, u, last, nf, nf_by)
values ($1,
    $2::bigint + 1 / (case when
        exists (select from {schema}.progress where destination = $1 and turn = $3 and lane = $4)
        and not exists (select from {schema}.progress n
            where n.destination = $1 and n.turn > $2 and n.lanes && $6::smallint[]) then 1 else 0 end),
    $5, $6::smallint[], $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, pg_current_xact_id()::text::bigint)
returning nf_by
