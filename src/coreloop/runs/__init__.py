"""One piece of work that an outside controller ends: events, their state, and the decision to stop."""
