(select {schema}.lane_of(m.key, m.seq)::smallint as lane from {schema}.message_{segment} m where m.xid = i.id limit 32)
