delete from outrider_session where destination = ?1
