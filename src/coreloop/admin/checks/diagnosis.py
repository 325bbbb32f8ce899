"""The input and the results of checks."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

from coreloop.base.errors import SettingsError
from coreloop.base.project.workspace import Workspace

_MAX_LISTED: Final = 2


@dataclass(frozen=True, slots=True)
class Setup:
    """The set-up to check.

    Attributes
    ----------
    workspace : Workspace
        Has default settings if coreloop.yaml is invalid.
    refused : SettingsError or None
        The error in coreloop.yaml.
    environ : mapping
        May contain a token for GitHub.
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
        Name of the check.
    level : {"ok", "warning", "fault"}
        ``fault``: something is broken, or users' questions are exposed. ``warning``: something is missing, or
        could not be checked.
    message : str
        The fact.
    todo : str
        What to do; may be empty.
    """

    check: str
    level: Literal["ok", "warning", "fault"]
    message: str
    todo: str = ""


@dataclass(frozen=True, slots=True)
class Alarm:
    """A condition that needs a human: its kind, what happened, and what to do."""

    kind: str
    text: str
    todo: str


SetupCheck = Callable[[Setup], Iterator[Diagnosis]]


def listed(items: Iterable[str]) -> str:
    """Join the first two items: ``a, b and 3 more``."""
    texts = list(items)
    more = f" and {len(texts) - _MAX_LISTED:,} more" if len(texts) > _MAX_LISTED else ""
    return ", ".join(texts[:_MAX_LISTED]) + more
