-- Moves a destination, unless somebody else has moved it since the claim. The samples, at least ten seconds apart,
-- are what the rate is reckoned from.
update outrider_destination set
    position = ?3, turn = turn + 1, delivered = delivered + ?4,
    sample_at = case when ?5 - next_sample_at >= 10000 then next_sample_at else sample_at end,
    sample_delivered = case when ?5 - next_sample_at >= 10000 then next_sample_delivered else sample_delivered end,
    next_sample_delivered = case when ?5 - next_sample_at >= 10000 then delivered else next_sample_delivered end,
    next_sample_at = case when ?5 - next_sample_at >= 10000 then ?5 else next_sample_at end
where id = ?1 and turn = ?2
