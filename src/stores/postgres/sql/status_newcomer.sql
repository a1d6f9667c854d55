-- Messages that wait for a destination which no relay has made known yet, counted up to a limit.
select count(*), min(r.occurred_at) from (
    select occurred_at from {schema}.message where topic like any ($1) limit $2) r
