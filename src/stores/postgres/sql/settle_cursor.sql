-- Moves the cursors of the lanes that worked, each from the turn it was claimed at: whoever moved one meanwhile
-- wins, and the division fails. Draws the transaction id if nothing before it did; nf ($7) was read before that,
-- in the claim. The limit makes it look each cursor up: as a plain join it read all turns to find sixteen.
with moved as (
    insert into {schema}.cursor (destination, lane, turn, p, f, s, sf, sf_by, u, last, nf, nf_by, delivered, late)
    select c.destination, c.lane, c.turn + 1,
        case when v.finished then v.s::pg_snapshot else c.p end, case when v.finished then v.sf else c.f end,
        case when not v.finished then v.s::pg_snapshot end, case when not v.finished then v.sf end,
        case when c.s is null then c.nf_by else c.sf_by end,
        case when not v.finished then v.u end, case when not v.finished then v.last end, v.nf,
        pg_current_xact_id()::text::bigint, c.delivered + v.delivered,
        case when v.finished then v.late::bigint[] else c.late end
    from unnest($2::smallint[], $3::bigint[], $4::text[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[],
        $9::boolean[], $10::bigint[], $11::text[]) as v(lane, turn, s, sf, u, nf, last, finished, delivered, late)
    cross join lateral (select * from {schema}.cursor
        where destination = $1 and lane = v.lane and turn = v.turn limit 1) c
    returning 1)
select 1 / (case when (select count(*) from moved) = cardinality($2::smallint[]) then 1 else 0 end)
