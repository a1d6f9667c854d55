-- The table, wherever its name is found. $1: its quoted name.
select c.oid::bigint, n.nspname::text, c.relname::text, c.relkind::text, pg_is_in_recovery(),
    has_table_privilege(c.oid, 'select'), has_table_privilege(c.oid, 'update'), has_table_privilege(c.oid, 'delete'),
    has_any_column_privilege(c.oid, 'update'),
    current_setting('max_locks_per_transaction')::bigint * current_setting('max_connections')::bigint
from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.oid = to_regclass($1)
