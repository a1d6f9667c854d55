sum({bytes}) over (order by z.seq rows unbounded preceding) - {bytes} <= $4 * w.part
