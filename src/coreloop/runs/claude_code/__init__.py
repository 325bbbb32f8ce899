"""What coreloop installs into a project for Claude Code: a Stop hook and skills."""
