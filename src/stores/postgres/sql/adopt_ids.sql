-- The ids of the old cluster mean nothing here, and one of them might be drawn again: every message that is there gets
-- the first id of all, which every snapshot but that of a destination that starts at the oldest sees.
update {schema}.message set xid = '3' where xid <> '3'
