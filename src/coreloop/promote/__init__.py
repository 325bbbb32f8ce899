"""Phase R: one candidate that a human confirmed, from the docstring edit to the draft pull request."""
