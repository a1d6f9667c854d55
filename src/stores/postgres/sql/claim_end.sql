-- The last statement of a claim: one that needs no snapshot. In a pipeline the portal of the statement before it stays
-- open, and would hold back everybody's vacuum (backend_xmin) for as long as the broker takes. The settle may wait that
-- long.
set local lock_timeout = '10s'
