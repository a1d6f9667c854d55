-- Removes old messages that every destination has passed. Looks at a bounded number of the oldest rows; the places are
-- read in the same statement, so nothing that somebody still needs can go.
delete from outrider_message where seq in (
    select seq from (
        select seq, occurred_at from outrider_message
        where seq <= (select min(position) from outrider_destination)
        order by seq limit 2 * ?2)
    where occurred_at <= ?1 limit ?2)
