-- Cursors of the destination $1 that stand at the same place, as one: the rows of all their lanes are then found in one
-- read of the log. whole: they are all there are. sf_by: from whom on the floor of their window holds, so of several
-- the last. {lanes} are those asked for, {all_lanes} is how many the log has, {least_turn} one that the lane is
-- known to have reached: it keeps many that were replaced, and a page of them would be read to find the newest.
select array_agg(n.lane::bigint) as lanes, array_agg(n.turn) as turns, n.p::text::pg_snapshot as p, n.f,
    n.s::text::pg_snapshot as s, n.sf, n.u, n.last, n.nf, n.late, count(*) = {all_lanes} as whole,
    max(case when n.s is null then n.nf_by else n.sf_by end) as sf_by
from {lanes} as l(lane)
cross join lateral (
    select * from {schema}.cursor where destination = $1 and lane = l.lane and turn >= {least_turn}
    order by turn desc limit 1) n
group by n.p::text, n.f, n.s::text, n.sf, n.u, n.last, n.nf, n.late
