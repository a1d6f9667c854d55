-- The last number that was given to a message.
select coalesce(max(seq), 0) from sqlite_sequence where name = 'outrider_message'
