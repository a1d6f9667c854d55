-- The messages of the windows in w, each with its place. $3: patterns of the destination's topics (LIKE).
select m.place, m.seq, m.id, {topic}, {key},
    case when m.type is not null and m.fits and m.ours then m.type end,
    case when m.fits and m.ours then {payload} end,
    case when m.content_type is not null and m.fits and m.ours then m.content_type end,
    case when m.headers is not null and m.fits and m.ours then m.headers end,
    m.occurred_at, m.deliver_after, m.order_key,
    {blocked},
    case when not m.fits then true end
from w cross join lateral (
    select z.*, {weight} as fits, {takes_all} or z.topic like any ($3) as ours,
        case when octet_length(z.key) > 0
            then hashtextextended(z.topic, hashtextextended(z.key, bigint '0')) end as order_key
    from (select * from ({range}) r order by seq limit w.rows) z) m
where w.work
