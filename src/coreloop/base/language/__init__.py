"""Words of English and Korean texts, and how like two of them are."""
