"""What `init` writes into a project, and what it proposes for the settings."""
