-- A message waits no longer.
delete from outrider_parked where destination = ?1 and seq = ?2
