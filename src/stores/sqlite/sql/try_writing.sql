-- Changes nothing, but is written like everything else.
update outrider_destination set position = position where id = ?1
