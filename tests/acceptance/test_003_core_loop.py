"""What document 003 of the specification promises, a test a row."""
