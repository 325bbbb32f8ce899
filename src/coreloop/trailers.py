"""The trailers that name a promotion in commits and pull requests: one vocabulary for writers and readers."""

import re
from collections.abc import Mapping
from typing import Final

BRANCH_PREFIX: Final = "skill/"
"""Every promotion's branch begins so."""

NAMES: Final = (
    "Phase",
    "Candidate-Id",
    "Candidate-Key",
    "Target",
    "Evidence",
    "Observed",
    "Unique-Questions",
    "Success-Rate",
    "Replay",
)
_LINE: Final = re.compile(rf"^({'|'.join(NAMES)}):[ \t]*(.*?)[ \t\r]*$", re.MULTILINE)


def read_trailers(message: str) -> dict[str, str]:
    """Coreloop's trailers of a commit message or a pull request's body.

    Looked for in every paragraph, since tools append their own below; the last of a name counts.
    """
    return {match[1]: match[2] for match in _LINE.finditer(message)}


def write_trailers(values: Mapping[str, str]) -> str:
    """The trailers as one paragraph, in the order of `NAMES`; a value is one line."""
    return "\n".join(f"{name}: {' '.join(values[name].split())}" for name in NAMES if name in values)
