"""What document 002 of the specification promises, a test a row."""
