update {schema}.destination set circuit = $2, circuit_reason = $3 where name = $1
and (circuit <> $2 or circuit_reason <> $3)
