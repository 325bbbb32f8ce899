"""Text of users, models and sources in what a model may read: named as such, escaped and bounded.

An instruction is made of the project's own words; everything else is a field ``untrusted_…`` of JSON, or a
block ``untrusted`` of Markdown, and never stands outside it.
"""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, Final

import orjson

from coreloop.base.text import is_visible
from coreloop.base.validation import fields_of

MAX_CHARS: Final = 2_000
"""Of one text: an error's text is classified up to here, and a name is far shorter."""
_PREFIX: Final = "untrusted_"


def untrusted(values: Mapping[str, object], *, max_chars: int = MAX_CHARS) -> dict[str, object]:
    """Return fields under names that say that they are data, with texts of at most so many characters."""
    return {_PREFIX + name: bounded(value, max_chars) for name, value in values.items()}


def with_untrusted(value: Any, *names: str, max_chars: int = MAX_CHARS) -> dict[str, object]:
    """Return the fields of a mapping or a dataclass, and those that are text of others as `untrusted`."""
    facts = value if isinstance(value, Mapping) else fields_of(value, *(one.name for one in fields(value)))
    ours = {name: fact for name, fact in facts.items() if name not in names}
    return ours | untrusted({name: facts[name] for name in names}, max_chars=max_chars)


def bounded(value: Any, max_chars: int = MAX_CHARS) -> Any:
    """Cut every text in a value, the names of fields too."""
    if isinstance(value, str):
        return value if len(value) <= max_chars else f"{value[: max_chars - 1]}…"
    if isinstance(value, Mapping):
        return {bounded(name, max_chars): bounded(item, max_chars) for name, item in value.items()}
    if is_dataclass(value):
        return {field.name: bounded(getattr(value, field.name), max_chars) for field in fields(value)}
    return [bounded(item, max_chars) for item in value] if isinstance(value, list | tuple) else value


def json_text(value: object, *, is_compact: bool = False, default: Any = None) -> bytes:
    r"""Write JSON with every invisible character as ``\u…``: it reads back as the same text."""
    written = orjson.dumps(value, default, None if is_compact else orjson.OPT_INDENT_2)
    lines = written.decode().split("\n")
    return "\n".join(line if is_visible(line) else "".join(map(_escaped, line)) for line in lines).encode()


def _escaped(char: str) -> str:
    if is_visible(char):
        return char
    units = char.encode("utf-16-be")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))
