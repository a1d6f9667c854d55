-- Segments, oldest first, and what may be done with each. $1: retention in seconds.
select g.segment, g.segment = (select last_value from {schema}.active), g.opened_at is not null,
    g.closed_by is not null,
    g.closed_by is not null and g.closed_at <= {now} - make_interval(secs => $1),
    coalesce(g.opened_at <= {now} - make_interval(secs => greatest($1 / 2, 1)), false),
    pg_relation_size(('{schema}.message_' || g.segment)::regclass)
from {schema}.segment g order by g.closed_by nulls last, g.opened_at nulls last
