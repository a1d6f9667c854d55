update outrider_session set unexplained = ?3 where destination = ?1 and session = ?2
