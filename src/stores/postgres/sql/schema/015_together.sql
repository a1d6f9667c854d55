-- One row for all lanes that stand together, instead of one for each: sixteen rows and entries of an index were a third
-- of what a turn of few messages cost the server. Insert-only as before; the newest turn that has a lane in it holds
-- for that lane. A turn has a number above every other of its destination that its claim saw, so the newest of all
-- lanes lie close together. lane: the first of the lanes; delivered: by each of them. The others are as in steps 1, 11
-- and 14.
create table {schema}.progress (
    destination integer not null,
    turn bigint not null,
    lane smallint not null,
    lanes smallint[] not null,
    delivered bigint[] not null,
    p pg_snapshot not null,
    f bigint not null,
    late bigint[] not null default '{}',
    s pg_snapshot,
    sf bigint,
    sf_by bigint not null default 9223372036854775807,
    u bigint,
    last bigint,
    nf bigint not null,
    nf_by bigint not null default 9223372036854775807,
    moved_at timestamptz not null default clock_timestamp(),
    primary key (destination, turn, lane)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

-- A turn that is under way ends first, and none begins.
lock table {schema}.cursor in access exclusive mode;
insert into {schema}.progress (destination, turn, lane, lanes, delivered, p, f, late, s, sf, sf_by, u, last, nf, nf_by,
    moved_at)
select destination, max(turn), min(lane), array_agg(lane order by lane), array_agg(delivered order by lane),
    p::text::pg_snapshot, f, late, s::text::pg_snapshot, sf, max(sf_by), u, last, nf, max(nf_by), max(moved_at)
from (select distinct on (destination, lane) * from {schema}.cursor order by destination, lane, turn desc) c
group by destination, p::text, f, late, s::text, sf, u, last, nf;
drop table {schema}.cursor;

-- Where each lane stands. Without the turn: a relay of an older version, which would look for it here, is told so
-- before it hands anything out.
create view {schema}.cursor as
select distinct on (c.destination, l.lane) c.destination, l.lane, l.delivered, c.p, c.f, c.late, c.s, c.sf, c.u, c.last,
    c.nf, c.moved_at
from {schema}.progress c cross join lateral unnest(c.lanes, c.delivered) as l(lane, delivered)
order by c.destination, l.lane, c.turn desc;
