-- What a destination keeps in order, for replays: key, none or global. Relays write it when they open.
alter table outrider_destination add column ordering text not null default 'key';
