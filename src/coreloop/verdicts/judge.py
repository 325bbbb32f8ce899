"""Human verdicts: ``judgments/YYYY-MM-DD.jsonl`` read and appended to, and what the newest ones say.

They lie over records and candidates, which are never rewritten.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from enum import StrEnum
from pathlib import Path
from typing import Final

import msgspec
import orjson

from coreloop.errors import UsageError, WorkspaceError
from coreloop.files import append_private
from coreloop.mine.decode import Line, read_lines
from coreloop.project.workspace import Workspace
from coreloop.proposals.candidates import Candidate
from coreloop.proposals.night import ProposalsFile, read_candidates, read_counterexamples
from coreloop.records import encodable
from coreloop.text import printable

SCHEMA_VERSION: Final = 1


class Verdict(StrEnum):
    """P pass and T tolerable speak for a thing, C caveat and V violation against it."""

    PASS = "P"
    TOLERABLE = "T"
    CAVEAT = "C"
    VIOLATION = "V"

    @property
    def passes(self) -> bool:
        return self in {Verdict.PASS, Verdict.TOLERABLE}


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgment:
    """One line: who said what about which thing, when and why.

    Attributes
    ----------
    id : str
        Of a request, a candidate or a counterexample.
    key : str or None
        Of the candidate or counterexample, the same on every night; None for a request.
    """

    schema_version: int = SCHEMA_VERSION
    id: str
    key: str | None
    verdict: Verdict
    cause: str | None
    judged_at: datetime
    judged_by: str

    @property
    def thing(self) -> str:
        """What the verdict is about, whatever its id was on that night."""
        return self.id if self.key is None else self.key


@dataclass(frozen=True, slots=True)
class Judgments:
    """All verdicts that were ever given.

    Attributes
    ----------
    given : tuple of Judgment
        By time, then by their order in the files.
    skipped : dict of str to int
        Lines that cannot be read, by reason.
    """

    given: tuple[Judgment, ...] = ()
    skipped: Mapping[str, int] = field(default_factory=dict)

    def newest(self) -> dict[str, Judgment]:
        """The verdict that counts, by thing: a request's id, a candidate's or counterexample's key."""
        return {one.thing: one for one in self.given}

    def of_requests(self) -> dict[str, str]:
        """Request id -> P, T, C or V, for `coreloop.mine.rollup.MineSettings`."""
        return {one.id: str(one.verdict) for one in self.newest().values() if one.key is None}

    def rejected(self) -> frozenset[str]:
        """Keys that are not proposed again, until somebody gives them a P or a T."""
        newest = self.newest().values()
        return frozenset(one.key for one in newest if one.key is not None and not one.verdict.passes)

    def disagreements(self) -> list[tuple[Judgment, Judgment]]:
        """The newest verdict and the newest one of anybody else, where one passes and the other does not."""
        newest = self.newest()
        others = {one.thing: one for one in self.given if one.judged_by != newest[one.thing].judged_by}
        pairs = [(newest[thing], other) for thing, other in others.items()]
        return [(one, other) for one, other in pairs if one.verdict.passes != other.verdict.passes]


@dataclass(frozen=True, slots=True)
class Proposed:
    """A candidate or counterexample as one day's file has it; ``text`` is its steps, where known."""

    id: str
    key: str
    day: date
    text: str = ""


def judge(
    workspace: Workspace, wanted: str, verdict: Verdict, *, cause: str | None, by: str, now: datetime
) -> tuple[Judgment, Path]:
    """Give a verdict: append its line to the file of the UTC day.

    Parameters
    ----------
    workspace : Workspace
        Where the thing must occur.
    wanted : str
        Id of a candidate (``cand-…``), a counterexample (``ce-…``), or else of a request.
    verdict : Verdict
        What is said.
    cause, by : str or None, str
        Why, and who says so.
    now : datetime
        With a zone.

    Raises
    ------
    UsageError
        The id is unknown.
    WorkspaceError
        A file cannot be read or written.
    """
    judgment = Judgment(
        id=wanted,
        key=_key_of(wanted, workspace),
        verdict=verdict,
        cause=encodable(cause) if cause and not cause.isspace() else None,
        judged_at=now.astimezone(UTC),
        judged_by=encodable(by),
    )
    path = workspace.judgments_dir / f"{judgment.judged_at.date()}.jsonl"
    # After a torn line a newline comes first, or both would be lost.
    append_private(path, [*([""] if _is_torn(path) else []), orjson.dumps(judgment).decode()])
    return judgment, path


def read_judgments(folder: Path) -> Judgments:
    """Read every verdict of a folder; none where there is no folder.

    Raises
    ------
    WorkspaceError
        A file cannot be read, or a line is of a newer version: what it says would silently be lost.
    """
    given: list[Judgment] = []
    skipped: Counter[str] = Counter()
    for path in sorted(folder.glob("*.jsonl")):
        for number, raw in enumerate(_read(path).splitlines(), start=1):
            line = _read_line(raw, path, number) if raw.strip() else None
            if isinstance(line, Judgment):
                given.append(line)
            elif line is not None:
                skipped[line] += 1
    return Judgments(tuple(sorted(given, key=lambda one: one.judged_at)), dict(skipped))


def read_proposed(workspace: Workspace) -> list[Proposed]:
    """Everything that was ever proposed, by day.

    Raises
    ------
    WorkspaceError
        A file is damaged or of a newer version.
    """
    documents: list[ProposalsFile] = [
        *map(read_candidates, workspace.candidates_dir.glob("*-candidates.json")),
        *map(read_counterexamples, workspace.counterexamples_dir.glob("*-counterexamples.json")),
    ]
    found = [proposed for document in documents for proposed in _proposed(document)]
    return sorted(found, key=lambda proposed: (proposed.day, proposed.id))


def _proposed(document: ProposalsFile) -> Iterator[Proposed]:
    entries = {entry.key: entry for entry in document.entries}
    # `ids` also holds what an earlier run of the day proposed: that it was rejected can be taken back.
    for key, id in {**document.ids, **{key: entry.id for key, entry in entries.items()}}.items():
        entry, day = entries.get(key), document.generated_at.date()
        steps = entry.tool_pattern if isinstance(entry, Candidate) else ()
        yield Proposed(id, key, day, " > ".join(map(str, steps)))


class _Version(msgspec.Struct):
    schema_version: int


_decode_judgment = msgspec.json.Decoder(Judgment).decode
_decode_version = msgspec.json.Decoder(_Version).decode


def _read_line(raw: bytes, path: Path, number: int) -> Judgment | str:
    """The verdict in a line, or why there is none."""
    try:
        version = _decode_version(raw).schema_version
        if version > SCHEMA_VERSION:
            raise WorkspaceError(f"line {number} has schema version {version}; upgrade coreloop", path=path)
        judgment = _decode_judgment(raw)
    except UnicodeDecodeError:
        return "not UTF-8"
    except msgspec.ValidationError:
        return "not a judgment"
    except (msgspec.DecodeError, RecursionError):
        return "torn or not JSON"
    naive = judgment.judged_at.tzinfo is None
    return replace(judgment, judged_at=judgment.judged_at.replace(tzinfo=UTC)) if naive else judgment


def _key_of(wanted: str, workspace: Workspace) -> str | None:
    """Key of a candidate or counterexample, None for a request; either must be known."""
    if wanted.startswith(("cand-", "ce-")):
        keys = {one.id: one.key for one in read_proposed(workspace)}
        if wanted in keys:
            return keys[wanted]
        places = f"{workspace.candidates_dir} and {workspace.counterexamples_dir}"
    else:
        if wanted and _occurs(wanted, workspace.records_dir):
            return None
        places = f"{workspace.records_dir}"
    raise UsageError(f"no {printable(wanted)} in {places}; copy an id from there or from the queue")


def _occurs(request_id: str, folder: Path) -> bool:
    try:
        return any(
            isinstance(line, Line) and line.fields.request_id == request_id
            for path in sorted(folder.glob("*.jsonl"), reverse=True)
            for line in read_lines(path)
        )
    except OSError as error:
        raise WorkspaceError(f"cannot be read ({error.strerror})", path=folder) from error


def _is_torn(path: Path) -> bool:
    content = _read(path) if path.exists() else b""
    return content != b"" and not content.endswith(b"\n")


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise WorkspaceError(f"cannot be read ({error.strerror})", path=path) from error
