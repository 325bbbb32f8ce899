"""What document 004 of the specification promises, a test a row."""
