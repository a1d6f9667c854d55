select id, topics, ordering from outrider_destination where name = ?1
