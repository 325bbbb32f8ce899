"""Attacks on a service and its readers, each held or broken: ``cd tests && uv run python -m attack``."""
