-- Notes the position of a new message, and returns the highest one of its key before, null if none is known.
insert into outrider_inbox_position (consumer, topic, key, position, previous, expires_at)
values (?1, ?2, ?3, ?4, null, cast((julianday('now') - 2440587.5) * 86400000.0 + 0.5 as integer) + ?5)
on conflict (consumer, topic, key) do update set
    previous = position, position = max(position, excluded.position), expires_at = max(expires_at, excluded.expires_at)
returning previous
