"""Mining for patterns and failures: a folder of records -> the facts of its files -> a window of days."""
