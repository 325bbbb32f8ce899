"""A web page as a source: fetched from public addresses alone, and read as text."""
