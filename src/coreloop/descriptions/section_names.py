"""Names of sections, and their equivalent spellings."""

import re

PROJECT_NAMES = ("Guide", "When", "How", "Verified", "Caveats")
"""Sections of this project's own vocabulary; `Name: text` opens them even inside a numpydoc section."""

KNOWN_NAMES = (
    *PROJECT_NAMES,
    *("Summary", "Description", "Extended Summary", "Short Summary"),
    *("Args", "Arguments", "Params", "Parameters", "Keyword Args", "Keyword Arguments", "Other Parameters"),
    *("Return", "Returns", "Yield", "Yields", "Receives", "Raise", "Raises", "Exceptions", "Warns"),
    *("Attributes", "Methods", "Functions", "Classes", "Modules", "Example", "Examples", "Usage"),
    *("Note", "Notes", "See Also", "References", "Deprecated", "Todo", "Warning", "Warnings", "Attention"),
    *("Caution", "Danger", "Error", "Hint", "Important", "Tip"),
)

_SPELLINGS = {
    "parameters": ("args", "arguments", "params", "parameter"),
    "returns": ("return",),
    "raises": ("raise", "exceptions"),
    "examples": ("example",),
    "notes": ("note",),
    "caveats": ("caveat",),
    "summary": ("shortsummary",),
    "description": ("extendedsummary",),
}
_SAME = {spelling: key for key, spellings in _SPELLINGS.items() for spelling in spellings}


def name_key(name: str) -> str:
    """The key that all spellings of a section name share (`SeeAlso`, `See also:`, `See Also`)."""
    key = re.sub(r"[\s_*-]+", "", name.strip().removesuffix(":")).casefold()
    return _SAME.get(key, key)


KNOWN_KEYS = frozenset(map(name_key, KNOWN_NAMES))
PROJECT_KEYS = frozenset(map(name_key, PROJECT_NAMES))
