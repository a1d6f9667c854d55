-- The log: cache of its sequence, its tables without autovacuum, rights of the relay's role (roles.sql) that this user
-- lacks, who may insert the columns that writers must leave out.
select (select seqcache from pg_sequence where seqrelid = '{schema}.seq'::regclass),
    array_to_string(array(select c.relname from pg_class c where c.relnamespace = '{schema}'::regnamespace
        and exists (select from pg_options_to_table(c.reloptions) o
            where o.option_name = 'autovacuum_enabled' and not o.option_value::boolean) order by 1), ','),
    array_to_string(array(
        select p.what || ' on ' || r.name
        from (values
            ('setting', 'select'), ('schema_version', 'select'), ('message', 'select'), ('cursor', 'select'),
            ('segment', 'select,update'),
            ('message_1', 'select,truncate'), ('message_2', 'select,truncate'),
            ('message_3', 'select,truncate'), ('message_4', 'select,truncate'),
            ('destination', 'select,insert,update,delete'), ('progress', 'select,insert,update,delete'),
            ('parked', 'select,insert,update,delete'), ('parked_key', 'select,insert,update,delete'),
            ('dead', 'select,insert,update,delete'), ('sample', 'select,insert,update,delete'),
            ('session', 'select,insert,update,delete'), ('mark', 'select,insert,update,delete'),
            ('inbox', 'select,update,delete'), ('inbox_position', 'select,update,delete')) as r(name, rights)
        cross join lateral unnest(string_to_array(r.rights, ',')) as p(what)
        where not has_table_privilege('{schema}.' || r.name, p.what)
        union all
        select p.what || ' on ' || r.name
        from (values ('seq', 'select'), ('active', 'select,update')) as r(name, rights)
        cross join lateral unnest(string_to_array(r.rights, ',')) as p(what)
        where not has_sequence_privilege('{schema}.' || r.name, p.what)
        union all
        select 'execute on ' || f.name
        from (values ('inbox_clean_up(integer)'), ('lane_of(text, bigint)'),
            ('id_of(uuid, bigint, timestamptz)')) as f(name)
        where not has_function_privilege('{schema}.' || f.name, 'execute')), ','),
    array_to_string(array(
        select quote_ident(r.rolname) from pg_roles r, pg_class c
        where c.oid = '{schema}.message'::regclass and not r.rolsuper and r.rolname not like 'pg\_%'
        and not pg_has_role(r.oid, c.relowner, 'usage') and has_column_privilege(r.oid, c.oid, 'xid', 'insert')
        order by 1), ',')
