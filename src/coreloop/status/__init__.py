"""Where the loop stands, and alarms where nothing comes out."""
