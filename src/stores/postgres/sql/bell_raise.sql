select setval('{schema}.bell', 1)
