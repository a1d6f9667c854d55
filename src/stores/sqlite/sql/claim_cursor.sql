-- Where a destination stands, and whether any key of it is held back.
select position, turn, paused, exists (select 1 from outrider_parked_key where destination = ?1), topics
from outrider_destination where id = ?1
