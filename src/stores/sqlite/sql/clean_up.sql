-- Removes the oldest messages that every destination has passed. ?1: also those that were written just now; else those
-- that were there at the moment ?2. The places are read in the same statement, so nothing that somebody still needs can
-- go.
delete from outrider_message where seq in (
    select seq from outrider_message
    where seq <= (select min(position) from outrider_destination)
    and (?1 or seq <= (select max(seq) from outrider_sample where at <= ?2))
    order by seq limit ?3)
