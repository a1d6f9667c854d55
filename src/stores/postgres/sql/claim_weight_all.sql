sum({bytes}) over (order by z.seq rows unbounded preceding) - {bytes} <= w.bytes * w.part
