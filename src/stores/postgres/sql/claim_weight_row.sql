{bytes} <= w.bytes
