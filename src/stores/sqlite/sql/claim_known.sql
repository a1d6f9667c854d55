-- Whether this row of the log is still the one that was read. Leans on the primary key.
select 1 from outrider_message where seq = ?1 and id = ?2
