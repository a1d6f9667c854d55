select occurred_at from outrider_message where seq = ?1
