-- Forgets at most ?2 messages whose retention was over at ?1. Leans on outrider_inbox_expiry.
delete from outrider_inbox where (consumer, id) in (
    select consumer, id from outrider_inbox where expires_at <= ?1 order by expires_at limit ?2)
