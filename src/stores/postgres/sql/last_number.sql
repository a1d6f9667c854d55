-- The last number that was given to a message, and the lanes of the log.
-- Never `select last_value`: it says 1 before the first use, and the first message would be lost.
select coalesce(pg_sequence_last_value('{schema}.seq'), 0), lanes from {schema}.setting
