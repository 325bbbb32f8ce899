"""Readers of a project's tools, as each agent framework sends them to a model.

`__main__.py` and the readers are scripts: they run in the project's environment, without coreloop, and import
only the standard library and their framework.
"""
