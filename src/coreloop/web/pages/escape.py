"""Text of users, tools and models in a page: what cannot be seen is shown as an escape."""

from typing import Any

from markupsafe import Markup

from coreloop.base.text import FILLERS, printable


def short(text: str, max_chars: int = 300) -> str:
    """Return the beginning of a text; its page must not grow with what others wrote."""
    return text if len(text) <= max_chars else f"{text[: max_chars - 1]}…"


def escape(value: Any) -> Any:
    r"""Return a text with its lines, but with other control and invisible characters as ``\u{…}``."""
    if not isinstance(value, str) or isinstance(value, Markup):
        return value
    if value.isprintable() and FILLERS.isdisjoint(value):
        return value
    return "\n".join(map(printable, value.encode("utf-8", "replace").decode().split("\n")))
