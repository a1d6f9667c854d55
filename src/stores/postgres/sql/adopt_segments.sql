-- Closed segments hold only such messages.
update {schema}.segment set closed_by = '4' where closed_by is not null
