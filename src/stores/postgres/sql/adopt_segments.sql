-- Closed segments hold only such messages. The active one is open, whatever its row says: a dump takes rows as they
-- were when it began, and registers as they are when it comes to them, so a rotation may lie between the two.
update {schema}.segment g set
    opened_at = case when a.is_active then coalesce(g.opened_at, {now}) else g.opened_at end,
    closed_by = case when not a.is_active and g.closed_by is not null then '4'::xid8 end,
    closed_at = case when not a.is_active then g.closed_at end
from (select segment, segment = (select last_value from {schema}.active) as is_active from {schema}.segment) a
where a.segment = g.segment
