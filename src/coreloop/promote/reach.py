"""Whether new text reaches the model: the tool's description before and after the edit."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Final

from coreloop.base.messages import number_of
from coreloop.base.tempfiles import temporary_folder
from coreloop.descriptions.check import SENT_CHARS
from coreloop.descriptions.edit import Edited
from coreloop.observe import jsonl
from coreloop.promote.tool_schemas import SchemaCommand, check_origin, read_description

SERVED: Final = (None, "fastmcp", "mcp")
"""Frameworks of which a client reads the first `SENT_CHARS` characters; None if it is not known."""
UNMEASURED: Final = (
    "reach: unmeasured, so it is unknown whether the new lines reach the model; dartlab-coreloop doctor "
    "says what to set"
)
"""The doubt if coreloop.yaml does not say how to read the description."""


@dataclass(frozen=True, slots=True)
class Measured:
    """The tool's description, as the model receives it.

    Attributes
    ----------
    before, after : str
        The description of the tool without and with the edit.
    source : str
        Origin of the descriptions, for humans.
    missing : tuple of str
        New lines that are not in ``after``; all new lines if the edit changed nothing and it is unknown which
        files the command read.
    caps : mapping of str to int
        Model or provider -> characters of the longest description; a longer one makes every request fail.
    elsewhere : str, optional
        Where the description is defined, and what to paste there, if it does not come from the docstring.
    """

    before: str
    after: str
    source: str
    missing: tuple[str, ...]
    caps: Mapping[str, int]
    elsewhere: str | None = None

    @property
    def ok(self) -> bool:
        """Whether every new line reaches the model, within all limits."""
        return not self.forbidden and not self.doubts

    @property
    def forbidden(self) -> tuple[str, ...]:
        """Obstacles that cannot be allowed."""
        exceeded = (
            f"every request to {name} would fail: the description is "
            f"{number_of(len(self.after) - limit, 'character')} over its limit of {limit:,} (caps in "
            "coreloop.yaml); shorten the docstring"
            for name, limit in self.caps.items()
            if len(self.after) > limit
        )
        return tuple(f"reach: {reason}" for reason in (self.elsewhere, *exceeded) if reason is not None)

    @property
    def doubts(self) -> tuple[str, ...]:
        """Obstacles that a human can allow."""
        if not self.missing or self.elsewhere is not None:
            return ()
        lines = number_of(len(self.missing), "new line")
        return (f"reach: {lines} not in the description that the model receives",)

    def lines(self) -> list[str]:
        """The sizes, and each limit, as a plan shows them."""
        size = f"{len(self.before):,} -> {len(self.after):,} characters, {self.source}"
        return [f"reach    {size}", *(f"         {line}" for line in self.cap_lines())]

    def cap_lines(self) -> list[str]:
        """Each limit, compared with the description."""
        size = len(self.after)
        return [
            f"{name} takes {limit:,} characters; the description is "
            + (f"{number_of(size - limit, 'character')} too long" if size > limit else "within the limit")
            for name, limit in self.caps.items()
        ]


def compare_descriptions(
    before: str, after: str, lines: Sequence[str], *, caps: Mapping[str, int], source: str
) -> Measured:
    """Compare a tool's two descriptions, as the model receives them.

    Parameters
    ----------
    lines : sequence of str
        The new lines.
    caps, source
        As in `Measured`.
    """
    missing = tuple(line for line in lines if not _words(line).search(after))
    return Measured(before, after, source, missing, caps)


def measure_reach(
    command: SchemaCommand,
    export: Callable[[Path], None],
    prefix: str,
    file: str,
    edited: Edited,
    *,
    tool: str,
    caps: Mapping[str, int],
) -> Measured:
    """Read the tool's description in a copy of the project, without and with the edit.

    Parameters
    ----------
    command : SchemaCommand
        Prints the descriptions.
    export : callable
        Writes the project's files, unedited, into a folder.
    prefix : str
        The project's path below that folder, where the command runs; empty for the folder itself.
    file : str
        The edited file's path below the project's folder.
    edited : Edited
        The edit.
    tool : str
        Name of the tool in the schema.
    caps : mapping of str to int
        As in `Measured`.

    Raises
    ------
    ReachError
        The command failed, took too long, printed no schema with that tool, or did not read the exported
        files.
    """
    with temporary_folder("coreloop-reach-") as scratch:
        root = Path(scratch, "tree")
        root.mkdir()
        export(root)
        folder = root / prefix
        before = read_description(command, folder, tool)
        (folder / file).write_bytes(edited.source)
        after = read_description(command, folder, tool)
        verified = before != after or check_origin(command, folder, file)
    measured = compare_descriptions(before, after, edited.appended, caps=caps, source=command.source)
    if not verified:
        return replace(measured, missing=edited.appended)
    if before != after:
        return measured
    return replace(measured, elsewhere=find_elsewhere(edited, before, tool=tool, missing=measured.missing))


def find_elsewhere(edited: Edited, description: str, *, tool: str, missing: Sequence[str]) -> str | None:
    """Say where an unchanged description comes from; None if it has the docstring's first line of text.

    Parameters
    ----------
    edited : Edited
        The edit, which does not show.
    description : str
        What the model receives.
    tool : str
        Name of the tool.
    missing : sequence of str
        New lines that are not in the description.
    """
    first = next((_flat(line) for line in edited.before.splitlines() if line.strip()), "")
    if not first or first in _flat(description):
        return None
    finding = f"the description of {tool} does not come from this text, so no edit of it reaches the model"
    if not missing:
        return f"{finding}; it has the lines already"
    return f"{finding}; paste where it is defined:" + "".join(f"\n    {line}" for line in missing)


def _words(line: str) -> re.Pattern[str]:
    """Matches all words of a line in order; a schema may print a list without its dashes, and wrap it."""
    words = r"\s+".join(map(re.escape, line.removeprefix("- ").split()))
    return re.compile(rf"(?<!\w){words}(?!\w)")


def unread_lines(text: str, lines: Iterable[str], framework: str | None) -> Iterator[str]:
    """Say which lines of a description stand behind what a client sends; frameworks of agents send all."""
    for line in lines if framework in SERVED else ():
        found = _words(line).search(text)
        start, end = found.span() if found else (0, 0)
        if end > SENT_CHARS:
            place = f"{line[2:]}: would stand at character {start + 1:,} of the description"
            yield f"{place}, and Claude Code sends the first {SENT_CHARS:,} characters"


def _flat(text: str) -> str:
    """A text with single spaces, since a schema may wrap lines differently."""
    return " ".join(text.split())


@dataclass(frozen=True, slots=True)
class ReachOutcome:
    """A line: whether the text of a candidate reached the model, according to a run of ``promote``."""

    ts: datetime
    key: str
    ok: bool


def append_reach(path: Path, outcome: ReachOutcome) -> None:
    """Append the outcome of a reach check.

    Raises
    ------
    WorkspaceError
        The file cannot be read or written.
    """
    jsonl.append(path, outcome)


def read_reaches(path: Path, *, since: datetime) -> dict[str, bool]:
    """Read the newest check of each candidate.

    Parameters
    ----------
    path : Path
        May be absent; unreadable lines are skipped.
    since : datetime
        Time zone aware.

    Returns
    -------
    dict of str to bool
        Candidate key -> whether the newest check since then passed.

    Raises
    ------
    WorkspaceError
        The file cannot be read.
    """
    if not path.exists():
        return {}
    outcomes = jsonl.read(path, ReachOutcome, other="not an outcome").values
    return {outcome.key: outcome.ok for outcome in outcomes if jsonl.with_zone(outcome.ts) >= since}
