-- A page. $1: destination, $2: our session, $3: whether it has an unexplained end, $4: marks that go, $5 to $7: marks
-- that come or change, by number, count and whether they are in our hand.
with erased as (delete from {schema}.mark where destination = $1 and seq = any ($4::bigint[])),
    explained as (
        update {schema}.session set unexplained = $3::boolean where destination = $1 and session = $2
        and unexplained <> $3::boolean)
insert into {schema}.mark (destination, seq, ends, session)
select $1, v.seq, v.ends, case when v.in_hand then $2::bigint end
from unnest($5::bigint[], $6::integer[], $7::boolean[]) as v(seq, ends, in_hand)
on conflict (destination, seq) do update set ends = excluded.ends, session = excluded.session
