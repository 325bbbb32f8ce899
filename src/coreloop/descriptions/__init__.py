"""Docstrings as text: find their sections, and edit them with proof that nothing else changes."""
