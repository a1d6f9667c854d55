-- Fails as settle_cursor.sql does, for lanes that come to stand with others, if the row that they were claimed at was
-- removed ($2, its first lane $3).
select 1 / (select count(*) from {schema}.progress where destination = $1 and turn = $2 and lane = $3)
