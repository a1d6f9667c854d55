insert into outrider_mark (destination, seq, ends, session) values (?1, ?2, ?3, ?4)
on conflict (destination, seq) do update set ends = excluded.ends, session = excluded.session
