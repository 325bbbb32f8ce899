"""GitHub: pull requests, reviews, branch rules, and errors."""
