-- Takes no lane's lock: it moves no cursor, and a turn that is under way ends as it began.
update {schema}.destination set paused = $2 where name = $1
