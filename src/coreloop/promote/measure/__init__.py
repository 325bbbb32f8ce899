"""Before a merge: whether a line changes which call a model makes next, asked of a model, never executed."""
