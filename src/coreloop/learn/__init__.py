"""Records become statements, proposals and verdicts: what keeps failing, what keeps succeeding."""
