select id from outrider_destination where name = ?1
