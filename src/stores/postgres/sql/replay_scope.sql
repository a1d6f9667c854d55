-- Where the messages that a replay asks for begin, and which lanes have any: the log is looked through once, and not
-- for every lane. $1: patterns of the destination's topics, $2: from this number, $3: or from this moment, $4: topics
-- like this, $5: of this key.
select min(m.seq), array_agg(distinct {schema}.lane_of(m.key, m.seq))::text
from {schema}.message m
where m.seq >= coalesce($2::bigint, 0) and ($3::timestamptz is null or m.occurred_at >= $3)
and m.topic like any ($1::text[]) and ($4::text is null or m.topic like $4)
and ($5::text is null or coalesce(m.key, '') = $5)
