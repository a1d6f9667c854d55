select id, topics from outrider_destination where name = ?1
