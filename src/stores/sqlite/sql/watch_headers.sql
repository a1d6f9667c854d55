-- The headers of one message.
select h.key, h.value from outrider_message m, json_each(m.headers) h where m.seq = ?1
