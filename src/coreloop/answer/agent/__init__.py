"""A research that an outside coding agent drives: plan, read, record, report."""
