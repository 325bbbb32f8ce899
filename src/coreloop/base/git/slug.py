"""Turn axis names into parts of a git branch name."""

import re
import unicodedata
from collections.abc import Mapping
from pathlib import Path
from typing import Final

_AXES: Final = Path(__file__).with_name("korean_axes.tsv").read_text("utf-8")
KOREAN_AXIS_SLUG: Final = dict(line.split("\t") for line in _AXES.splitlines())
_MAX_CHARS: Final = 40


def to_slug(name: str | None, more: Mapping[str, str] | None = None) -> str:
    """Make a valid part of a git branch name for an axis or a tool.

    Parameters
    ----------
    name : str or None
        ``수익성``, ``cash flow``; None for a tool without an axis.
    more : mapping, optional
        ``axis_slugs`` of coreloop.yaml; they override the built-in names.

    Returns
    -------
    str
        1 to 40 of ``a-z``, ``0-9`` and ``-``, no ``-`` at an end. An unknown name that is not ASCII gets
        ``axis-`` and 8 hex digits of its SHA-256; None gets ``general``.
    """
    if name is None:
        return "general"
    folded = _fold(name)
    chosen = {_fold(axis): slug for axis, slug in (more or {}).items()}
    known = chosen.get(folded) or KOREAN_AXIS_SLUG.get(folded) or folded
    name = known.lower() if known.isascii() else ""
    slug = re.sub(r"[^a-z0-9]+", "-", name).strip("-")[:_MAX_CHARS].strip("-")
    if slug:
        return slug
    from hashlib import sha256  # loads OpenSSL, 3 ms

    return f"axis-{sha256(folded.encode('utf-8', 'replace')).hexdigest()[:8]}"


def _fold(name: str) -> str:
    return unicodedata.normalize("NFC", name).strip()
