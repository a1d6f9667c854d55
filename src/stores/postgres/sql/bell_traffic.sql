select coalesce(pg_sequence_last_value('{schema}.seq'::regclass), 0)
