-- The windows of the locked lanes and their next rows, all from the one snapshot of this statement: first a row per
-- window (seq is null; its state in the place of the topic, the present moment and the next due one in those of the
-- times), then the messages, each with its place: its lane, and 65536 for each number of its segment. Lanes that stand
-- at the same place have one window. Leans on (seq) of each segment; takes share locks on the segments it names, and no
-- transaction id. $1: destination, $2: messages in all, $3: patterns of its topics (LIKE), $4: bytes in all, or per row
-- (fits), $5: its topics, as a list in JSON, $6: numbers to look at in all, $7: the turns that the lanes are known to
-- have reached, by their numbers. {global}: whether the destination has one order for everything, {takes_all}: whether
-- it takes every topic.
--
-- Why it looks like that: snapshots go through text in a materialized CTE, since a large one would be unpacked
-- for every row otherwise; what is new lies above f, and what a transaction wrote that had begun before p and has ended
-- since lies above its own floor (late), so one range of numbers has it all; u bounds the scan, and so does $6, since
-- lanes and what was handled are told apart row by row; every branch has its own limit, since a union without it sorts
-- the backlog. What is needed only when something is parked (next_due, blocked), or when rows are large (weight), is
-- filled in only then: the plan is set up for every claim. Of other topics, and of what lies beyond the byte limit, no
-- more than the key is sent, and of topics, keys and payloads no more than shows that they are too long. A value that
-- is sent costs 450 instructions, a null none: what is seldom true is null where it is not, and where a message lies is
-- one number.
with x as materialized (
    select c.*, n.ns, n.lv, coalesce(c.s, n.ns) as to_s,
        (select min(coalesce(i.floor, 0)) from rows from (pg_snapshot_xip(c.p), unnest(c.late)) as i(id, floor)
            where pg_visible_in_snapshot(i.id, coalesce(c.s, n.ns))) as late_from,
        exists (select from {schema}.segment g
            where g.closed_by > pg_snapshot_xmin(c.p) and g.closed_by <= pg_snapshot_xmin(n.ns)) as lags,
        array(select g.segment from {schema}.segment g
            where (g.opened_at is not null or g.segment = (select last_value from {schema}.active))
            and (g.closed_by is null or g.closed_by > pg_snapshot_xmin(c.p)))::text as needed,
        cardinality(c.lanes)::float8 / cardinality(current_setting('outrider.lanes')::smallint[]) as part
    from ({groups}) c
    cross join (
        select pg_current_snapshot() as ns, coalesce(pg_sequence_last_value('{schema}.seq'), 0) as lv) n),
w as materialized (
    select *, least(u, low + greatest(ceil($6::bigint * part)::bigint, 1024)) as top from (
        select lanes, delivered, turn, first, newest, p, f, late, to_s as s,
            case when s is null then nf else sf end as sf, sf_by, case when s is null then 0 else last end as last,
            case when s is null then lv else u end as u, lv, nf, lags, needed, s is not null as open,
            s is not null or lv > f or late_from is not null or lags as work,
            greatest(case when s is null then 0 else last end, least(f, late_from)) as low, part,
            greatest(ceil($2 * part), least($2, 64))::bigint as rows,
            {global} or whole as whole, $4::bigint as bytes
        from x) y)
select null::bigint as place, null::bigint as seq, null::uuid,
    format('%s|%s|%s|%s|%s|%s|%s|%s|%s|%s|%s|%s|%s|%s|%s|%s|%s|%s|%s|%s|%s|%s|%s|%s', w.lanes, w.delivered, w.turn,
        w.first, w.newest, w.p, w.f, w.late, w.s, w.sf, w.sf_by, w.u, w.lv, w.nf, w.last, w.low, w.top, w.rows,
        w.needed, w.open, w.work, w.lags, d.paused, exists (select from {schema}.parked_key where destination = $1)),
    case when d.topics <> $5::jsonb then d.topics::text end, null::text, null::bytea, null::text, null::jsonb, {now},
    {next_due}, null::bigint, null::boolean, null::boolean
from w left join {schema}.destination d on d.id = $1
union all
{messages}
