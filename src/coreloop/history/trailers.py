"""What marks a promotion: branch, title, label and the trailers of commits and pull requests.

One vocabulary for those who write them (`promote`) and those who read them (`history`, `guard`).
"""

import re
from collections.abc import Collection, Mapping
from typing import Final

from coreloop.history.slug import to_slug

BRANCH_PREFIX: Final = "skill/"
"""Every promotion's branch begins so."""

TITLE_MARK: Final = "[CORELOOP-"
"""Every promotion's title begins so."""

LABEL: Final = "coreloop"
"""The one label that coreloop puts on a pull request."""

SECTIONS: Final[Mapping[str, str]] = {"R": "Guide", "F": "Caveats"}
"""What each phase appends to."""

REPLAYS: Final[Mapping[str, frozenset[str]]] = {
    "R": frozenset({"reproduced", "inconclusive", "unavailable", "not-applicable"}),
    "F": frozenset({"not-applicable"}),
}
"""The verdicts with which each phase goes on; of a Guide only a statement has nothing to repeat."""

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
CANDIDATE_ID: Final = re.compile(r"(cand|ce)-\d{4}-\d\d-\d\d-\d{3,6}", re.ASCII)
CANDIDATE_KEY: Final = re.compile(r"[0-9a-f]{16}")
SYMBOL: Final = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*(:[0-9]{1,9})?")
"""The part of a target behind ``::``: a qualname, with a line where one is defined twice."""

_KINDS: Final = {"R": "docstring", "F": "caveat"}
_SAYINGS: Final = {"R": "how it is used with success", "F": "how it fails"}
_LINE: Final = re.compile(rf"^({'|'.join(NAMES)}):[ \t]*(.*?)[ \t\r]*$", re.MULTILINE)


def read_trailers(message: str) -> dict[str, str]:
    """Coreloop's trailers of a commit message or a pull request's body.

    Looked for in every paragraph, since tools append their own below; the last of a name counts.
    """
    return {match[1]: match[2] for match in _LINE.finditer(message)}


def read_promoted(message: str) -> tuple[dict[str, str], ...]:
    """The trailers of each candidate that a message carries, in their order; ``Phase`` begins the next one's.

    What stands there twice, as a squash repeats it, is one.
    """
    groups: list[dict[str, str]] = [{}]
    for match in _LINE.finditer(message):
        if match[1] == "Phase" and "Phase" in groups[-1]:
            groups.append({})
        groups[-1][match[1]] = match[2]
    return tuple({tuple(group.items()): group for group in groups if group}.values())


def promoted_keys(message: str) -> tuple[str, ...]:
    """The keys of the candidates that a message carries."""
    return tuple(key for group in read_promoted(message) if (key := group.get("Candidate-Key")))


def write_trailers(values: Mapping[str, str]) -> str:
    """The trailers as one paragraph, in the order of `NAMES`; a value is one line."""
    return "\n".join(f"{name}: {' '.join(values[name].split())}" for name in NAMES if name in values)


def write_title(phases: Collection[str], engine: str) -> str:
    """Subject of a promotion's commit and title of its pull request; of several, ``R`` names it."""
    first, *others = sorted(set(phases), reverse=True)
    said = " and ".join(_SAYINGS[phase] for phase in (first, *others))
    return f"{TITLE_MARK}{first}] docs({engine}): {said}"


def is_title(title: str, phases: Collection[str], engine: str) -> bool:
    """Whether a title is a promotion's; older versions named the section, too."""
    wanted = write_title(phases, engine)
    return title in {wanted, *(f"{wanted}, {SECTIONS[phase]}" for phase in phases if len(set(phases)) == 1)}


def branch_start(phase: str, engine: str) -> str:
    """How the name of a promotion's branch begins; the axis and the day follow."""
    return f"{BRANCH_PREFIX}{_KINDS[phase]}-{to_slug(engine)}-"
