create table orders (id integer primary key, customer text not null, cents integer not null);
create table account (customer text primary key, cents integer not null check (cents >= 0));
insert into account values ('ada', 1000), ('bob', 100);
