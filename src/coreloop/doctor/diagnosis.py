"""What a check looks at, and what it says."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

from coreloop.errors import SettingsError
from coreloop.project.workspace import Workspace

_SHOWN: Final = 5


@dataclass(frozen=True, slots=True)
class Setup:
    """What is checked.

    Attributes
    ----------
    workspace : Workspace
        With default settings where coreloop.yaml cannot be used.
    refused : SettingsError or None
        Why coreloop.yaml cannot be used.
    now : datetime
        Aware.
    environ : mapping
        May hold a token for GitHub.
    """

    workspace: Workspace
    refused: SettingsError | None
    now: datetime
    environ: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The result of a check.

    Attributes
    ----------
    check : str
        What was checked.
    level : {"ok", "warning", "fault"}
        ``fault``: something is broken, or users' questions are exposed. ``warning``: something is missing, or
        could not be checked.
    message, todo : str
        The fact, and what to do; ``todo`` may be empty.
    """

    check: str
    level: Literal["ok", "warning", "fault"]
    message: str
    todo: str = ""


SetupCheck = Callable[[Setup], Iterator[Diagnosis]]


def listed(items: Iterable[str]) -> str:
    """``a, b, c, d, e and 3 more``."""
    found = list(items)
    more = f" and {len(found) - _SHOWN:,} more" if len(found) > _SHOWN else ""
    return ", ".join(found[:_SHOWN]) + more
