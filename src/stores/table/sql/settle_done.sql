-- Fewer rows than were locked: something keeps us from settling (a rule, a trigger), so everything is undone.
-- $1: where the rows lie, $2: in which part of the table, $3: how many there are.
with settled as ({settle} where t.ctid = any ($1::tid[]) and t.tableoid = $2::bigint::oid returning true)
select 1 / (count(*) = $3)::integer from settled
