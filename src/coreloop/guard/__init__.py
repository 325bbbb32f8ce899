"""The guard: no promotion merges without a human, and a pull request that says it is one must be one."""
