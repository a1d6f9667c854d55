-- The last number that was given to a message, the lanes of the log, whether the server is a standby, and what tells
-- ids of this log from those of others.
-- Never `select last_value`: it says 1 before the first use, and the first message would be lost.
select coalesce(pg_sequence_last_value('{schema}.seq'), 0), lanes, pg_is_in_recovery(), origin
from {schema}.setting
