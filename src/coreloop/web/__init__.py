"""The second shell: the use cases of the command line over HTTP."""
