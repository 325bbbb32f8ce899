"""Repair: a failed answer becomes signals, signals become actions, and the question is asked again."""
