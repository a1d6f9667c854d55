-- How far the log had come at some moments, noted by whoever cleans up. What is old is told by when it was written, not
-- by when its writer says that it happened.
create table outrider_sample (
    at integer primary key,
    seq integer not null
);
