-- When a cursor was moved, for whoever asks whether anybody moves it. The first default is a constant, so that the rows
-- that are there need not be written anew.
alter table {schema}.cursor add column moved_at timestamptz not null default now();
alter table {schema}.cursor alter column moved_at set default clock_timestamp();
