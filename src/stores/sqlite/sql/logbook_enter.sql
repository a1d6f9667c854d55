insert into outrider_session (destination, session) values (?1, ?2) on conflict do nothing
