"""The state of the loop, with warnings when a stage produces no output."""
