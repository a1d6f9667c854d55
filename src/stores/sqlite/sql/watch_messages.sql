-- Messages behind a number, in their order.
select seq, id, topic, key, type, payload, content_type, occurred_at, deliver_after
from outrider_message where seq > ?1 order by seq
