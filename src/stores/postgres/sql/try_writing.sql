-- Changes nothing, but is written like everything else.
update {schema}.destination set circuit = circuit where id = $1
