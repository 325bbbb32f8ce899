"""GitHub: pull requests, reviews and rules, and what can go wrong in asking for them."""
