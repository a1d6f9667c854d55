-- Forgets at most ?2 keys whose retention was over at ?1. Leans on outrider_inbox_position_expiry.
delete from outrider_inbox_position where (consumer, topic, key) in (
    select consumer, topic, key from outrider_inbox_position where expires_at <= ?1 order by expires_at limit ?2)
