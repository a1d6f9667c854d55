-- What has become of rows that a relay remembers as waiting. A row that is not listed waits no more. $1: their ids.
select {id_text}, {due}, {buried}, clock_timestamp()
from {table} t where {listed} and {wanted} and {id} = any ($1::{id_type}[])
