update {schema}.destination set paused = $2 where name = $1
