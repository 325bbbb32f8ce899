"""Research: a question becomes searches, findings and an answer whose every sentence has a source."""
