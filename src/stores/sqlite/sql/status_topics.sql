-- The topics of the log, found by hopping from one to the next in outrider_message_topic.
with recursive topics(topic) as (
    select (select min(topic) from outrider_message)
    union all
    select (select min(topic) from outrider_message where topic > topics.topic) from topics
    where topics.topic is not null
)
select topic from topics where topic is not null
