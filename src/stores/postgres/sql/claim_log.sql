-- The window of each locked lane and its next rows, all from the one snapshot of this statement: first a row per
-- lane (seq is null; its state in the place of the topic, the present moment and the next due one in those of the
-- times), then the messages. Leans on (lane, seq) and (xid, lane, seq) of each
-- segment; takes share locks on the segments it names, and no transaction id. $1: destination, $2: rows per
-- lane, $3: patterns of its topics (LIKE), $4: bytes per lane, or per row (weight), $5: whether
-- the destination has one order for everything, $6: its topics, as a list in JSON, $7: whether it takes every topic.
--
-- Why it looks like that: snapshots go through text in a materialized CTE, since a large one would be unpacked
-- for every row otherwise; only ids that have ended are looked up, once for all lanes (e: the lanes that each wrote to;
-- 32 of its rows stand for any lane), then where they wrote; every branch has its own limit, since a union without it
-- sorts the backlog; u bounds the scan. What is needed only when something is parked (next_due, blocked), or when rows
-- are large (weight), is filled in only then: the plan is set up for every claim. Of other topics, and of
-- what lies beyond the byte limit, no more than the key is sent.
with c as materialized (
    select l.lane, n.turn, n.p::text::pg_snapshot as p, n.f, n.s::text::pg_snapshot as s, n.sf, n.u, n.last, n.nf,
        pg_current_snapshot() as ns, coalesce(pg_sequence_last_value('{schema}.seq'), 0) as lv
    from unnest(current_setting('outrider.lanes')::smallint[]) as l(lane)
    cross join lateral (
        select * from {schema}.cursor where destination = $1 and lane = l.lane order by turn desc limit 1) n),
e as materialized (
    select i.id, l.lanes from (
        select distinct i as id from c cross join lateral pg_snapshot_xip(c.p) i
        where pg_visible_in_snapshot(i, coalesce(c.s, c.ns))) i
    cross join lateral (select array_agg(r.lane) as lanes from (
        select u.lane from ({late_lanes}) u limit 32) r) l
    where l.lanes is not null),
x as materialized (
    select lane, turn, p, f, coalesce(s, ns) as s, case when s is null then nf else sf end as sf,
        case when s is null then 0 else last end as last, case when s is null then lv else u end as u, lv,
        array(select e.id from e where (lane = any (e.lanes) or cardinality(e.lanes) = 32 or $5)
            and e.id < pg_snapshot_xmax(p) and not pg_visible_in_snapshot(e.id, p)
            and pg_visible_in_snapshot(e.id, coalesce(s, ns))) as ended,
        s is not null as open, nf,
        exists (select from {schema}.segment g
            where g.closed_by > pg_snapshot_xmin(p) and g.closed_by <= pg_snapshot_xmin(ns)) as lags,
        array(select g.segment from {schema}.segment g
            where (g.opened_at is not null or g.segment = (select pg_sequence_last_value('{schema}.active')))
            and (g.closed_by is null or g.closed_by > pg_snapshot_xmin(p)))::text as needed
    from c),
w as materialized (select *, open or lv > f or ended <> '{}' or lags as work from x),
d as materialized (
    select paused, case when topics <> $6::jsonb then topics::text end as other_topics,
        exists (select from {schema}.parked_key where destination = $1) as held
    from {schema}.destination where id = $1)
select w.lane, null::bigint as seq, null::integer, null::smallint, null::uuid,
    array_to_string(array[w.turn::text, w.s::text, w.sf::text, w.u::text, w.lv::text, w.last::text, w.work::text,
        w.needed, d.paused::text, w.open::text, w.nf::text, w.f::text, w.lags::text, d.held::text], '|', ''),
    d.other_topics, null::text, null::bytea, null::text, null::jsonb, {now}, {next_due}, null::bigint, null::boolean,
    null::boolean
from w left join d on true
union all
select w.lane, m.seq, m.segment, m.lane, m.id, m.topic, m.key, case when m.fits and m.ours then m.type end,
    case when m.fits and m.ours then m.payload end, case when m.fits and m.ours then m.content_type end,
    case when m.fits and m.ours then m.headers end,
    m.occurred_at, m.deliver_after, m.order_key,
    {blocked},
    not m.fits
from w cross join lateral (
    select z.*, {weight} <= $4 as fits, $7 or z.topic like any ($3) as ours,
        case when coalesce(z.key, '') = '' then null
            else hashtextextended(z.topic, hashtextextended(z.key, bigint '0')) end as order_key
    from (
        select * from (
            (select l.* from unnest(w.ended) i cross join lateral ({late}) l order by seq limit $2)
            union all {range}) y
        order by seq limit $2) z) m
where w.work
