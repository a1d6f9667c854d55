-- The headers of one message.
select h.key, h.value from {schema}.message m, jsonb_each_text(m.headers) h where m.seq = $1::bigint
