"""Checks of a project's set-up and of what it recorded, each with what to do about a problem."""
