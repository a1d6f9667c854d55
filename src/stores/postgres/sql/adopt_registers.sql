-- Registers that did not come along: a logical replica and a dump of the data alone have the rows, and not the
-- sequences. Numbers go on above all that are known here; the other register begins as in a new log, and nobody sleeps.
select setval('{schema}.seq', greatest(
        (select max(seq) from {schema}.message), (select max(seq) from {schema}.parked),
        (select max(seq) from {schema}.dead), (select max(greatest(f, nf)) from {schema}.cursor),
        pg_sequence_last_value('{schema}.seq'), 1)),
    setval('{schema}.active', (select last_value from {schema}.active))
