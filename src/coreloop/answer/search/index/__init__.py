"""The local index: files become passages that full-text search finds."""
