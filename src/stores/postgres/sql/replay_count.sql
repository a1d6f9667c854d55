-- How many messages of one lane a replay would take.
select count(*) from {rows} r
