delete from outrider_mark where destination = ?1
