"""What document 001 of the specification promises, a test a row."""
