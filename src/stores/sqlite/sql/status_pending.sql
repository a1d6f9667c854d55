-- How many messages of a topic lie behind a place, and the first of them. Leans on outrider_message_topic alone.
select count(*), min(seq) from outrider_message where topic = ?1 and seq > ?2
