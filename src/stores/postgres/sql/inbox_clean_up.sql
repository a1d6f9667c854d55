select {schema}.inbox_clean_up($1::integer)
