-- Makes a destination known. One that exists keeps its place and takes the new list of topics and order.
insert into outrider_destination (name, topics, ordering, position)
values (?1, ?2, ?4, case when ?3 then coalesce((select seq from sqlite_sequence where name = 'outrider_message'), 0)
                else 0 end)
on conflict (name) do update set topics = excluded.topics, ordering = excluded.ordering
