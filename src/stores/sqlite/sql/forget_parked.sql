delete from outrider_parked where destination = ?1
