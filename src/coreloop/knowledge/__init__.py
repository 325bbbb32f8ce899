"""Knowledge: what people wrote and what was verified, in one SQLite database."""
