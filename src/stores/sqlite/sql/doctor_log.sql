-- The newest message of the log, and whether the trigger that guards its numbers is there.
select coalesce((select occurred_at from outrider_message order by seq desc limit 1), 0),
    exists (select 1 from sqlite_master where type = 'trigger' and name = 'outrider_message_number')
