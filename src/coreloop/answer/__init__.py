"""A question becomes an answer whose every sentence has a source."""
