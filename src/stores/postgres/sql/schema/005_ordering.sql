-- What a destination keeps in order, for replays: key, none or global. Relays write it when they open.
alter table {schema}.destination add column ordering text not null default 'key';
update {schema}.destination d set ordering = 'global'
where (select lanes from {schema}.setting) > 1
and (select count(distinct lane) from {schema}.cursor c where c.destination = d.id) = 1;
