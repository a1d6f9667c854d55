delete from outrider_mark where destination = ?1 and seq = ?2
