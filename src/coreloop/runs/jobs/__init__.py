"""Jobs: work that is done later and once, by this process or another one."""
