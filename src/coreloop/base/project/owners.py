"""CODEOWNERS: who must review a path, and the placeholder for the owner."""

import re
from typing import Final

PLACES: Final = (".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS")
"""Where GitHub looks for the file; the first counts."""

PLACEHOLDER: Final = "@OWNER"
"""Stands in CODEOWNERS until ``init --owner`` replaces it."""

PLACEHOLDER_NOTE: Final = (
    f"# {PLACEHOLDER} is a placeholder: dartlab-coreloop init --owner @login --confirm replaces it."
)
_PARTS: Final = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
_REVIEWER: Final = re.compile(r"@[A-Za-z0-9][A-Za-z0-9_-]{0,38}(?:/[A-Za-z0-9][\w.-]{0,99})?", re.ASCII)
_NAMED: Final = re.compile(rf"(?<!\S){PLACEHOLDER}(?!\S)")


def owners_of(text: str, path: str) -> tuple[str, ...]:
    """The owners of a path: those of the last line that matches it, as GitHub reads CODEOWNERS.

    Parameters
    ----------
    text : str
        The file.
    path : str
        Below the repository's root, with ``/``.
    """
    owners: tuple[str, ...] = ()
    for line in text.splitlines():
        pattern, *named = re.split(r"(?<!\\)\s+", line.partition("#")[0].strip())
        if pattern and _matches(pattern.replace("\\ ", " "), path):
            owners = tuple(named)
    return owners


def is_reviewer(name: str) -> bool:
    """Whether GitHub can have such a login (``@kim``) or team (``@octo/analysts``)."""
    return _REVIEWER.fullmatch(name) is not None


def has_placeholder(text: str) -> bool:
    """Whether a line still names the placeholder as an owner."""
    lines = (line for line in text.splitlines() if not line.startswith("#"))
    return any(map(_NAMED.search, lines))


def fill_placeholder(text: str, owner: str) -> str:
    """The file with the placeholder replaced, and without the note about it."""
    lines = text.splitlines(keepends=True)
    kept = (line for line in lines if line.strip() != PLACEHOLDER_NOTE)
    return "".join(line if line.startswith("#") else _NAMED.sub(lambda _: owner, line) for line in kept)


def _matches(pattern: str, path: str) -> bool:
    """Whether a pattern matches a file: ``/docs/``, ``docs/*``, ``*.py``, ``**/logs``."""
    start = "" if "/" in pattern.rstrip("/") else "(?:.*/)?"
    parts = re.split(r"(\*\*/?|\*|\?)", pattern.strip("/"))
    body = "".join(_PARTS.get(part, re.escape(part)) for part in parts)
    # docs/* does not reach into folders; docs and docs/ do
    end = "/.*" if pattern.endswith("/") else "" if pattern.endswith("/*") else "(?:/.*)?"
    return re.fullmatch(f"{start}{body}{end}", path) is not None
