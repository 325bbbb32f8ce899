"""The guard: only humans merge promotions, and whatever claims to be a promotion must be one."""
