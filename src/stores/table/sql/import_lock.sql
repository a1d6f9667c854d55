-- Out go writers and relays: a relay in mid-turn has a lock on the table that this waits for.
lock table {table} in exclusive mode
