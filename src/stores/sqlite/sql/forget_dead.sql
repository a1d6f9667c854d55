delete from outrider_dead where destination = ?1
