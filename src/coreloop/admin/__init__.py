"""What a project owner does: set up, check, back up, look at the state of the loop, try the demo."""
