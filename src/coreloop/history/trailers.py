"""The marks of a promotion: branch, title, label and the trailers of commits and pull requests.

`promote` writes them; `history` and `guard` read them.
"""

import re
from collections.abc import Collection, Mapping
from typing import Final

from coreloop.history.slug import to_slug

BRANCH_PREFIX: Final = "skill/"
"""Prefix of every promotion's branch."""

TITLE_MARK: Final = "[CORELOOP-"
"""Prefix of every promotion's title."""

LABEL: Final = "coreloop"
"""The label that coreloop adds to its pull requests."""

SECTIONS: Final[Mapping[str, str]] = {"R": "Guide", "F": "Caveats"}
"""Docstring section of each phase."""

REPLAYS: Final[Mapping[str, frozenset[str]]] = {
    "R": frozenset({"reproduced", "inconclusive", "unavailable", "not-applicable"}),
    "F": frozenset({"not-applicable"}),
}
"""Replay verdicts with which a promotion proceeds; a Guide's statement has no calls to replay."""

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
"""The part of a target after ``::``: a qualname, with a line if it is defined twice."""

_KINDS: Final = {"R": "docstring", "F": "caveat"}
_SUBJECTS: Final = {"R": "how it is used with success", "F": "how it fails"}
_LINE: Final = re.compile(rf"^({'|'.join(NAMES)}):[ \t]*(.*?)[ \t\r]*$", re.MULTILINE)


def read_trailers(message: str) -> dict[str, str]:
    """Read coreloop's trailers from a commit message or a pull request's body.

    Every paragraph is searched, since tools append their own trailers; the last of a name counts.
    """
    return {match[1]: match[2] for match in _LINE.finditer(message)}


def read_promoted(message: str) -> tuple[dict[str, str], ...]:
    """Read the trailers of each candidate in a message, in order; each ``Phase`` begins a new candidate.

    Repeated groups, as in a squash, count once.
    """
    groups: list[dict[str, str]] = [{}]
    for match in _LINE.finditer(message):
        if match[1] == "Phase" and "Phase" in groups[-1]:
            groups.append({})
        groups[-1][match[1]] = match[2]
    return tuple({tuple(group.items()): group for group in groups if group}.values())


def promoted_keys(message: str) -> tuple[str, ...]:
    """The keys of the candidates in a message."""
    return tuple(key for group in read_promoted(message) if (key := group.get("Candidate-Key")))


def write_trailers(values: Mapping[str, str]) -> str:
    """Write trailers as one paragraph, in the order of `NAMES`; each value on one line."""
    return "\n".join(f"{name}: {' '.join(values[name].split())}" for name in NAMES if name in values)


def write_title(phases: Collection[str], engine: str) -> str:
    """Subject of a promotion's commit and title of its pull request; with both phases the mark is ``R``."""
    first, *others = sorted(set(phases), reverse=True)
    subject = " and ".join(_SUBJECTS[phase] for phase in (first, *others))
    return f"{TITLE_MARK}{first}] docs({engine}): {subject}"


def is_title(title: str, phases: Collection[str], engine: str) -> bool:
    """Whether a title is that of a promotion; older versions appended the section."""
    wanted = write_title(phases, engine)
    return title in {wanted, *(f"{wanted}, {SECTIONS[phase]}" for phase in phases if len(set(phases)) == 1)}


def branch_start(phase: str, engine: str) -> str:
    """The beginning of a promotion's branch name; the axis and the day follow."""
    return f"{BRANCH_PREFIX}{_KINDS[phase]}-{to_slug(engine)}-"
