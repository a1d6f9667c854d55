delete from outrider_parked_key where destination = ?1
