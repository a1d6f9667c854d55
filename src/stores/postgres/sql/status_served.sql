-- Whether a relay serves a destination. $1: the lock that its sessions share for as long as they are open, $2: those of
-- the lanes, since behind a pooler a relay holds nothing between its turns.
select {is_locked}
