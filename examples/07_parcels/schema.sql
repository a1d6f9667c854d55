-- The API's own tables: what was scanned, and how often each parcel.
create table parcel (id text primary key, scans integer not null);
create table scan (id uuid primary key, parcel text not null, place text not null);

-- The worker's own table: where each parcel has been. No unique key guards it, so that an effect that happened twice
-- would be seen.
create table journey (entry bigserial primary key, parcel text not null, number bigint not null, place text not null);
