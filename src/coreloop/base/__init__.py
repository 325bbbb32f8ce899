"""What every room stands on: errors, files, text, HTTP, databases, git, GitHub, the project, the record."""
