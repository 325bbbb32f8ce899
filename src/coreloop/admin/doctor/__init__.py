"""Checks of a project's set-up, each with what to do about a problem."""
