-- Who wrote a floor, which had been read before that transaction drew its id: every id from there on has numbers above
-- it, also one that is in progress in the snapshot of a window (nf_by of nf, sf_by of sf). Not known: a later one than
-- there will ever be.
alter table {schema}.cursor add column nf_by bigint not null default 9223372036854775807,
    add column sf_by bigint not null default 9223372036854775807;
