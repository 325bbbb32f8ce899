"""The marks of a promotion: branch, title, label and the trailers of commits and pull requests.

`promote` writes them; history and the guard read them, both with `read_promoted`.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from coreloop.base.git.slug import to_slug

BRANCH_PREFIX: Final = "skill/"
"""Prefix of every promotion's branch."""

REVERT_PREFIX: Final = "revert/"
"""Prefix of the branches that take a promoted line back."""

TITLE_MARK: Final = "[CORELOOP-"
"""Prefix of every promotion's title."""

LABEL: Final = "coreloop"
"""The label that coreloop adds to its pull requests."""

SECTIONS: Final[Mapping[str, str]] = {"R": "Guide", "F": "Caveats"}
"""Docstring section of each phase."""

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
MEASURED: Final = "Measured"
"""The trailer that a promotion has only if its lines were measured before."""

CANDIDATE_ID: Final = re.compile(r"(cand|ce)-\d{4}-\d\d-\d\d-\d{3,6}", re.ASCII)
CANDIDATE_KEY: Final = re.compile(r"[0-9a-f]{16}")
SYMBOL: Final = re.compile(r"[^\W\d][\w.:/-]{0,199}(\[[^\W\d][\w.\[\]-]{0,199}\])?")
"""The part of a target after ``::``: a qualname or a tool, and the argument whose text it is."""

# Lines are trimmed outside of these, since a pattern that does so takes quadratic time in a row of spaces.
_CO_AUTHOR: Final = re.compile(r"^[ \t*+-]*co-authored-by[ \t]*:(.*)$", re.MULTILINE | re.IGNORECASE)
_KINDS: Final = {"R": "docstring", "F": "caveat"}
_SUBJECTS: Final = {"R": "how it is used with success", "F": "how it fails"}
_SPACE: Final = " \t\r"  # git's; a line ends at \n alone, whatever else Unicode takes for the end of one
_BLANK: Final = re.compile(rf"\n(?:[{_SPACE}]*\n)+")
_FOLD: Final = re.compile(r"\r?\n[ \t]+")
_TRAILER: Final = re.compile(r"([\w-]+)[ \t]*:(.*)|\(cherry picked from commit [0-9a-f]+\)")
_NAME: Final = {name.casefold(): name for name in (*NAMES, MEASURED)}


def read_promoted(message: str) -> tuple[dict[str, str], ...]:
    """Read the trailers of each candidate in a message, in order; a group that a squash repeats counts once.

    A candidate is one paragraph of trailers alone with a known ``Phase`` and a ``Candidate-Key``, wherever it
    stands, quoted or not; the last of a name counts. The first line is a subject or a title, which a squash
    parts from the rest: it is no trailer.
    """
    paragraphs = map(_trailers, _BLANK.split(message.replace("\n", "\n\n", 1))[1:])
    phased = (group for group in paragraphs if group.get("Phase") in SECTIONS)
    groups = (group for group in phased if CANDIDATE_KEY.fullmatch(group.get("Candidate-Key", "")))
    return tuple({tuple(group.items()): group for group in groups}.values())


def _trailers(paragraph: str) -> dict[str, str]:
    """Coreloop's trailers in a paragraph; empty if any line is no trailer."""
    lines = _FOLD.sub(" ", paragraph.strip("\n")).split("\n")
    matches = [_TRAILER.fullmatch(line.rstrip(_SPACE)) for line in lines]
    trailers = (match for match in matches if match and match[1]) if all(matches) else ()
    names = ((_NAME.get(match[1].casefold()), match[2].lstrip(_SPACE)) for match in trailers)
    return {name: value for name, value in names if name}


def co_authors(message: str) -> tuple[str, ...]:
    """Names and addresses of a message's ``Co-authored-by`` lines, also of a list's or indented ones."""
    people = (match[1].strip().removesuffix(">").rpartition("<") for match in _CO_AUTHOR.finditer(message))
    parts = (part.strip() for name, _, address in people for part in (name, address))
    return tuple(filter(None, parts))


def promoted_keys(message: str) -> tuple[str, ...]:
    """The keys of the candidates in a message."""
    return tuple(group["Candidate-Key"] for group in read_promoted(message))


def write_trailers(values: Mapping[str, str]) -> str:
    """Write trailers as one paragraph, in the order of `NAMES`; each value on one line."""
    written = (name for name in (*NAMES, MEASURED) if name in values)
    return "\n".join(f"{name}: {' '.join(values[name].split())}" for name in written)


def write_title(phases: Collection[str], engine: str) -> str:
    """Subject of a promotion's commit and title of its pull request; with both phases the mark is ``R``."""
    first, *others = sorted(set(phases), reverse=True)
    subject = " and ".join(_SUBJECTS[phase] for phase in (first, *others))
    return f"{TITLE_MARK}{first}] docs({engine}): {subject}"


def write_message(groups: Sequence[Mapping[str, str]], engine: str, section: str | None) -> str:
    """The message of a promotion's commit from the trailers of its candidates.

    Parameters
    ----------
    groups : sequence of mapping of str to str
        The trailers of each candidate, for one docstring.
    engine : str
        The tool.
    section : str or None
        The section that the lines are in; None for the description.
    """
    where = "the description" if section is None else section
    title = write_title([group["Phase"] for group in groups], engine)
    return f"{title}\n\nAdds to {where} of {groups[0]['Target']}.\n\n{write_groups(groups)}\n"


def write_groups(groups: Sequence[Mapping[str, str]]) -> str:
    """The trailers of several candidates, a paragraph each."""
    return "\n\n".join(map(write_trailers, groups))


def branch_start(phase: str, engine: str) -> str:
    """The beginning of a promotion's branch name; the axis and the day follow."""
    return f"{BRANCH_PREFIX}{_KINDS[phase]}-{to_slug(engine)}-"
