"""What document 000 of the specification promises, a test a row."""
