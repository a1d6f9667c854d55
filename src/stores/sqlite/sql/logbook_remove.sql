delete from outrider_session where destination = ?1 and session = ?2
