"""Where events are kept: SQLite in the project, Postgres for many machines; money that all runs share."""
