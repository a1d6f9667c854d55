-- A payload is judged where it is read, too, as topics and keys are since step 12 (3,700 of an insert's 96,700
-- instructions). enqueue() and the libraries refuse one that is too large at once, as before.
alter domain {schema}.payload drop constraint "outrider: payload must have at most 64 MiB";
create domain {schema}.limited_payload as bytea
    constraint "outrider: payload must have at most 64 MiB" check (octet_length(value) <= 67108864);

-- A default that is of the domain already, and a constant once it is planned: a message without headers has none to
-- check (3,300 instructions). Not inlined, since then it would be a null that has to be checked.
create function {schema}.no_headers() returns {schema}.headers language plpgsql immutable parallel safe as $body$
begin
    return null;
end
$body$;
alter table {schema}.message alter column headers set default {schema}.no_headers();
