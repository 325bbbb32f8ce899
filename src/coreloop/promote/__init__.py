"""Phase R: one candidate or counterexample becomes a draft pull request, which a human merges."""
