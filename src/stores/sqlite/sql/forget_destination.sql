delete from outrider_destination where id = ?1
