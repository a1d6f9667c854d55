-- The last number that was given to a message.
select coalesce(pg_sequence_last_value('{schema}.seq'::regclass), 0)
