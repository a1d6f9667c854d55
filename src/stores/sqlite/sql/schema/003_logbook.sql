-- Relays whose broker is code of their own process. A row that is still there although its process is not tells of an
-- unclean end. unexplained: it came after an end of which no mark says over what.
create table outrider_session (
    destination integer not null,
    session integer not null,
    unexplained integer not null default 0,
    began_at integer not null default (cast((julianday('now') - 2440587.5) * 86400000.0 + 0.5 as integer)),
    primary key (destination, session)
) without rowid;

-- Messages that such a process had in hand at unclean ends, or has right now. session: whose hand; null: nobody's.
create table outrider_mark (
    destination integer not null,
    seq integer not null,
    ends integer not null,
    session integer,
    primary key (destination, seq)
) without rowid;
