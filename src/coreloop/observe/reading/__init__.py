"""Records as they are read: lenient, line by line, from a folder or an address."""
