"""What a model receives of a project's tools, read the way of each agent framework.

`__main__.py` and the readers are scripts: they run in the project's own environment, where coreloop is not
installed, and import nothing but the standard library and the one framework.
"""
