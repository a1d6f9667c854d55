-- What is new for lanes that stand where our own settle has left them a moment ago, with no window open: as
-- claim_log.sql, with all that it would look up given. Most claims beside busy writers are of this kind, and cost the
-- server half. First a row that tells the new window: its snapshot, the sequence and the newest turn; null if anything
-- is not as it was (somebody has moved the lanes, another segment is written to, something is parked, the operator has
-- changed the destination, a transaction has ended that began long ago), so that the claim has to be made in full. Then
-- the messages. $1 to $5: as there; $6, $7: turn and first lane of the row that our settle wrote, $8: the lanes, $9:
-- what they have handled, $10: no message that is new to them lies below, but for those of the ids $12, $11: how far to
-- look, $13: whether they are all lanes there are. {segment}: the one that is written to.
with w as not materialized (
    select $8::smallint[] as lanes, $9::pg_snapshot as p, $10::bigint as low, $11::bigint as top,
        $2::bigint as rows, $4::bigint as bytes, $13::boolean as whole, true as work)
select null::bigint as place, null::bigint as seq, null::uuid,
    case when g.found and not g.moved and not d.paused and d.topics = $5::jsonb
        and (select last_value from {schema}.active) = {segment}
        and not exists (select from {schema}.parked_key where destination = $1)
        and not exists (select from unnest($12::xid8[]) as i(id)
            where pg_visible_in_snapshot(i.id, pg_current_snapshot()))
    then format('%s|%s|%s', pg_current_snapshot(), coalesce(pg_sequence_last_value('{schema}.seq'), 0), g.newest) end,
    null::text, null::text, null::bytea, null::text, null::jsonb, {now}, null::timestamptz, null::bigint, null::boolean,
    null::boolean
from (select max(turn) as newest, bool_or(turn = $6 and lane = $7) as found,
        bool_or(turn > $6 and lanes && $8::smallint[]) as moved
    from {schema}.progress where destination = $1 and turn >= $6) g
cross join {schema}.destination d
where d.id = $1
union all
{messages}
