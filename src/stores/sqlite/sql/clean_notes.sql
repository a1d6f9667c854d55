-- Of the notes up to the moment ?2 the last one tells all. Those behind ?1, which is now, are of a clock that was
-- wrong.
delete from outrider_sample
where at > ?1 or at < (select max(at) from outrider_sample where at <= ?2)
