delete from outrider_dead where destination = ?1 and seq = ?2
