-- The number that the next message's follows, and the last one that a destination has passed.
select max(coalesce((select seq from sqlite_sequence where name = 'outrider_message'), 0),
           coalesce((select max(seq) from outrider_message), 0)),
    coalesce((select max(position) from outrider_destination), 0)
