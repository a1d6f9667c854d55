-- The log: cache of its sequence, its tables without autovacuum, rights that this user lacks to relay, who may insert
-- the columns that writers must leave out.
select (select seqcache from pg_sequence where seqrelid = '{schema}.seq'::regclass),
    array_to_string(array(select c.relname from pg_class c where c.relnamespace = '{schema}'::regnamespace
        and c.reloptions && array['autovacuum_enabled=false', 'autovacuum_enabled=off'] order by 1), ','),
    array_to_string(array(
        select p.what || ' on ' || t.name
        from (values ('destination'), ('cursor'), ('parked'), ('parked_key'), ('dead'), ('sample')) as t(name),
            (values ('select'), ('insert'), ('update'), ('delete')) as p(what)
        where not has_table_privilege('{schema}.' || t.name, p.what)
        union all
        select 'select on ' || t.name from (values ('setting'), ('segment'), ('message')) as t(name)
        where not has_table_privilege('{schema}.' || t.name, 'select')
        union all
        select p.what || ' on ' || t.name
        from (values ('message_1'), ('message_2'), ('message_3'), ('message_4')) as t(name),
            (values ('select'), ('truncate')) as p(what)
        where not has_table_privilege('{schema}.' || t.name, p.what)), ','),
    array_to_string(array(
        select quote_ident(r.rolname) from pg_roles r, pg_class c
        where c.oid = '{schema}.message'::regclass and not r.rolsuper and r.rolname not like 'pg\_%'
        and not pg_has_role(r.oid, c.relowner, 'usage') and has_column_privilege(r.oid, c.oid, 'xid', 'insert')
        order by 1), ',')
