-- Every cursor has handled what is there, and begins behind the last number drawn. Nobody writes meanwhile: whoever
-- does later has an id that this snapshot does not see and a number above the floor.
insert into {schema}.cursor (destination, lane, turn, p, f, nf, delivered, late)
select c.destination, c.lane, c.turn + 1, pg_current_snapshot(), n.lv, n.lv, c.delivered,
    array(select n.lv from pg_snapshot_xip(pg_current_snapshot()))
from (select distinct on (destination, lane) * from {schema}.cursor order by destination, lane, turn desc) c,
    (select coalesce(pg_sequence_last_value('{schema}.seq'), 0) as lv) n
