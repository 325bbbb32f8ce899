"""Checks of a project's set-up: what is missing or broken, and what to do about it."""
