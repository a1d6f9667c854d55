-- Marks of nobody, and those in the hand of a session that has ended.
select seq, ends, session is not null from outrider_mark
where destination = ?1 and (session is null or session in (select value from json_each(?2))) order by seq
