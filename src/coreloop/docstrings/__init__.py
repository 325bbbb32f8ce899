"""Docstrings as text: where their sections are, and an edit that proves itself."""
