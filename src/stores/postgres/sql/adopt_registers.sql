-- Registers that did not come along: a logical replica and a dump of the data alone have the rows, and not the
-- sequences. Numbers go on above all that are known here; a register that nobody has set begins as in a new log.
select setval('{schema}.seq', greatest(
        (select max(seq) from {schema}.message), (select max(seq) from {schema}.parked),
        (select max(seq) from {schema}.dead), (select max(greatest(f, nf)) from {schema}.cursor),
        pg_sequence_last_value('{schema}.seq'), 1)),
    setval('{schema}.active', coalesce(pg_sequence_last_value('{schema}.active'), 1)),
    setval('{schema}.bell', coalesce(pg_sequence_last_value('{schema}.bell'), 0))
