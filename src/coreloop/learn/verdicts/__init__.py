"""Human verdicts on requests and proposals, and the queue of items to judge."""
