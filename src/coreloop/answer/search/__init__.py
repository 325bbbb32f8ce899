"""Where evidence comes from: a local index, the web, and single pages."""
