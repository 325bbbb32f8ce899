"""An answer whose every sentence has a source that says so."""
