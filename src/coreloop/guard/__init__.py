"""The guard: a promotion may merge only as `promote` wrote it, and only after a human approved it."""
