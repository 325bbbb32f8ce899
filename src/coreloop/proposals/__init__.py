"""Candidates and counterexamples: their files, their words, the lines that they propose."""
