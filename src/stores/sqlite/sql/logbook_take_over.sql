update outrider_mark set session = ?3 where destination = ?1 and session in (select value from json_each(?2))
