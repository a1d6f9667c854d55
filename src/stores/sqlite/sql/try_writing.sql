-- Adds ?2 to what is counted; run with 1 and -1 it changes nothing in the end. SQLite writes no page whose bytes an
-- update leaves as they are, so that an update to the same value would be written nowhere.
update outrider_destination set delivered = delivered + ?2 where id = ?1
