"""Human verdicts on requests and proposals, and what waits for one."""
