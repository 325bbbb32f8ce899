"""Whether changes of descriptions helped: a ledger from git, an estimate with its interval, a verdict."""
