-- Where lanes of the destination $1 stand, a row for those that stand together, with the turn and the first lane of the
-- row that says so, and the newest turn of all. whole: they are all there are. sf_by: from whom on the floor of their
-- window holds. {lanes} is an array of those asked for, {all_lanes} how many the log has, {least_turn} one that each of
-- them is known to have reached: what was replaced since the last clean-up is not looked at then. Newest first, so that
-- what was replaced is seen to be so at once.
with r as materialized (
    select * from {schema}.progress where destination = $1 and turn >= {least_turn} order by turn desc)
select m.lanes, m.delivered, r.turn, r.lane as first, (select max(turn) from r) as newest,
    r.p::text::pg_snapshot as p, r.f, r.late, r.s::text::pg_snapshot as s, r.sf, r.u, r.last, r.nf,
    cardinality(m.lanes) = {all_lanes} as whole, case when r.s is null then r.nf_by else r.sf_by end as sf_by
from r cross join lateral (
    select array_agg(l.lane::bigint) as lanes, array_agg(l.delivered) as delivered
    from unnest(r.lanes, r.delivered) as l(lane, delivered)
    where l.lane = any ({lanes})
    and not exists (select from r n where n.turn > r.turn and l.lane = any (n.lanes))) m
where m.lanes is not null
