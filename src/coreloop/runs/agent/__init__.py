"""What an agent that drives itself reads and records: the next step, a report, the status file."""
