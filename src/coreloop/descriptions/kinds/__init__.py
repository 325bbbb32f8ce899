"""Kinds of files: how the texts of tools are found and spelled in each, behind `texts`."""
