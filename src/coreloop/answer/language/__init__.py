"""What a run has asked already: the same question in other words, and results that can be reused."""
