-- What is new, oldest first. Leans on the primary key, so the cost does not depend on what lies before.
select seq, id, topic, key, type, payload, content_type, headers, occurred_at, deliver_after
from outrider_message where seq > ?1 order by seq limit ?2
