-- The encoding that the lanes and the order of this log were reckoned in, if it is not that of this database and
-- makes a difference.
select s.encoding from {schema}.setting s
where s.encoding <> current_setting('server_encoding') and exists (
    select from (
        select topic, key from {schema}.message union all select topic, key from {schema}.parked
        union all select topic, key from {schema}.dead) m
    where m.key ~ '[^\x01-\x7f]' or m.topic ~ '[^\x01-\x7f]')
