-- What became of a transaction that wrote this message, as pg_xact_status says it; null: nobody can say. Asked for the
-- number alone it may speak of somebody else: a crash loses numbers with the commits that were not on disk yet, and
-- they are given out again. With its owner's rights, since writers need none to read.
create function {schema}.commit_outcome(xid xid8, id uuid) returns text
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $body$
declare
    status text := pg_xact_status($1);
begin
    if status = 'committed' and not exists (select from {schema}.message m where m.xid = $1 and m.id = $2) then
        return null;
    end if;
    return status;
end
$body$;
