"""Descriptions that models read: found, read, edited and proven.

A kind of text needs four functions. For Python's docstrings: `find_definition` of `source` finds,
`locate` reads, `put_lines` and `remove_bullets` of `edit` edit, and each edit proves itself.
"""
