-- Relays whose broker is code of their own process. A row that is still there although nobody holds the advisory lock
-- of its session tells of an unclean end. unexplained: it came after an end of which no mark says over what.
create table {schema}.session (
    destination integer not null,
    session bigint not null,
    unexplained boolean not null default false,
    began_at timestamptz not null default clock_timestamp(),
    primary key (destination, session)
);

-- Messages that such a process had in hand at unclean ends, or has right now. session: whose hand; null: nobody's.
create table {schema}.mark (
    destination integer not null,
    seq bigint not null,
    ends integer not null,
    session bigint,
    primary key (destination, seq)
);
