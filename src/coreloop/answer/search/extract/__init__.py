"""Text from files: a module per kind of file, all from bytes to a `Document`."""
