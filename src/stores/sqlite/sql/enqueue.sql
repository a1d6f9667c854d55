-- One message. What is null gets its default.
insert into outrider_message
    (id, topic, key, type, payload, content_type, headers, occurred_at, deliver_after)
values (?1, ?2, ?3, ?4, ?5, ?6, ?7,
    coalesce(?8, cast((julianday('now') - 2440587.5) * 86400000.0 + 0.5 as integer)), ?9)
