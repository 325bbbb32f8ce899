"""One module for each kind of file that describes tools.

``find(raw)`` gives all texts of a file in any order; ``spell(raw, text, value)`` gives the literal of another
value, in which all that both values share is spelled as it was; ``parsed(raw)`` gives the file as a tree of
lists, tuples and values, with duplicates. All raise `UnprovenError` for a file that is unreadable.
"""
