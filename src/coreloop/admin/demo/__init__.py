"""Two demos on invented data: a small tool package each, and a scripted agent that calls its tools."""
