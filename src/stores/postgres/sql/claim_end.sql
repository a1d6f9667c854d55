set local lock_timeout = '10s'
