"""An end-to-end trial on invented data: a small tool package, and a scripted agent that calls it."""
