select setval('{schema}.bell', 0)
