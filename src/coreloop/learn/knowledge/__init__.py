"""The knowledge store: insights, playbook and executions in a SQLite database."""
