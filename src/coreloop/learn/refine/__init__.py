"""Phase F: failures that repeat become counterexamples."""
