-- Records a message: one row is changed if it is new to the consumer. ?3: retention in milliseconds.
insert into outrider_inbox (consumer, id, expires_at)
values (?1, ?2, cast((julianday('now') - 2440587.5) * 86400000.0 + 0.5 as integer) + ?3)
on conflict do nothing
