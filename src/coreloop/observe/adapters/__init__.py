"""Adapters record what the model asked for, at a framework's own boundary: one module per framework.

Each module imports its framework only inside its functions, so that a server needs no more than it has.
"""
