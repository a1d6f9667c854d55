-- Every lane has handled what is there, and begins behind the last number drawn. Nobody writes meanwhile: whoever
-- does later has an id that this snapshot does not see and a number above the floor.
insert into {schema}.progress (destination, turn, lane, lanes, delivered, p, f, nf, late)
select c.destination, (select max(turn) + 1 from {schema}.progress r where r.destination = c.destination), min(c.lane),
    array_agg(c.lane order by c.lane), array_agg(c.delivered order by c.lane), pg_current_snapshot(), n.lv, n.lv,
    array(select n.lv from pg_snapshot_xip(pg_current_snapshot()))
from {schema}.cursor c, (select coalesce(pg_sequence_last_value('{schema}.seq'), 0) as lv) n
group by c.destination, n.lv
