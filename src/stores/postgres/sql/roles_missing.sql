-- Roles of the schema that are not there, or may not use it: name, and whether it is there.
select r.name, to_regrole(r.name) is not null
from (values ('{writer}'), ('{relay}')) as r(name)
where not coalesce(has_schema_privilege(to_regrole(r.name), to_regnamespace('{schema}'), 'usage'), false)
