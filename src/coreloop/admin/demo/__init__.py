"""A demo on invented data: a small tool package, and a scripted agent that calls its tools."""
