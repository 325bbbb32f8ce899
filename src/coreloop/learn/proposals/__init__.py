"""Candidates, counterexamples and statements: their files, their text and the lines that they propose."""
