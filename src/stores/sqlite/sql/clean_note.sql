-- Notes how far the log has come at the moment ?1, unless that was noted after ?2.
insert into outrider_sample (at, seq)
select ?1, coalesce((select seq from sqlite_sequence where name = 'outrider_message'), 0)
where not exists (select 1 from outrider_sample where at > ?2)
