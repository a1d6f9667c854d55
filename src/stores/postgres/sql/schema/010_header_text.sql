-- Headers of 35 kB may have a text of a gigabyte (a number such as 1e131000 is stored in few bytes), which no relay
-- could read: they would stop their destination. The limit is one of the text.
alter domain {schema}.headers drop constraint "outrider: headers must have at most 2 MiB";
alter domain {schema}.headers add constraint "outrider: headers must have at most 2 MiB of text"
    check (octet_length(value #>> '{}') <= 2097152) not valid;
