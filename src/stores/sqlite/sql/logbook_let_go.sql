update outrider_mark set session = null where destination = ?1 and session = ?2
