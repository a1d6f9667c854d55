-- Topics of the messages that come to hand first, up to a limit per segment, with how many there are.
select r.topic, count(*) from (
    (select topic from {schema}.message_1 limit $1) union all (select topic from {schema}.message_2 limit $1)
    union all (select topic from {schema}.message_3 limit $1) union all (select topic from {schema}.message_4 limit $1)
) r group by r.topic order by r.topic
