"""Statements: a line about a tool that nearly always holds, tested by cases; a file for each kind of line."""
