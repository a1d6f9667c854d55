-- A waiting message was refused once more.
update outrider_parked set order_key = ?3, attempts = ?4, refused_at = ?5, due_at = ?6, error = ?7
where destination = ?1 and seq = ?2
