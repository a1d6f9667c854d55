-- Messages that a destination has passed, and that neither wait for it nor died, oldest first. Leans on the primary
-- key. ?1: destination, ?2: from this number, ?3: from this moment, ?4: of this key. Nulls do not filter.
select m.seq, m.topic, coalesce(m.key, '') from outrider_message m
where m.seq >= coalesce(?2, 0) and m.seq <= (select position from outrider_destination where id = ?1)
and (?3 is null or m.occurred_at >= ?3) and (?4 is null or coalesce(m.key, '') = ?4)
and not exists (select 1 from outrider_parked p where p.destination = ?1 and p.seq = m.seq)
and not exists (select 1 from outrider_dead d where d.destination = ?1 and d.seq = m.seq)
order by m.seq
