"""What a promotion starts from: one entry of a proposals file, read anew and trusted with nothing."""

from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path, PurePosixPath
from typing import Annotated, Final, Literal

import msgspec

from coreloop.errors import RefusedError, UsageError, WorkspaceError
from coreloop.history.trailers import CANDIDATE_ID, CANDIDATE_KEY, SECTIONS, SYMBOL
from coreloop.mine.signals import CLASSES, LABELS
from coreloop.project.settings import Settings
from coreloop.proposals.grammar import is_call, is_failing_call, is_failing_sequence, is_when
from coreloop.proposals.vocabulary import Step
from coreloop.records import is_category, step
from coreloop.text import is_tool_name, printable, refuse_line

Phase = Literal["R", "F"]
_Count = Annotated[int, msgspec.Meta(ge=0, le=1_000_000_000)]
_Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
_SCHEMA_VERSION: Final = 1


class SuggestedFields(msgspec.Struct, frozen=True):
    """The proposed text."""

    target_file: str | None
    target_symbol: str | None
    section: str
    body: str


class CandidateFields(msgspec.Struct, frozen=True):
    """A candidate, as far as a promotion needs it."""

    id: str
    key: str
    engine: str
    axis: str | None
    cat_hash: str
    tool_pattern: tuple[Step, ...]
    n_observed: _Count
    n_unique_questions: _Count
    success_rate: _Share
    success_low: _Share
    base_rate: _Share
    first_seen: datetime
    last_seen: datetime
    example_questions: tuple[str, ...]
    providers: dict[str, int]
    suggested_append: SuggestedFields | None
    refused: str | None = None
    evidence_rank: int = 1


class WithoutFields(msgspec.Struct, frozen=True):
    """The same tool called otherwise."""

    n_failures: _Count
    n_calls: _Count
    arg_keys: tuple[str, ...] = ()


class CounterexampleFields(msgspec.Struct, frozen=True):
    """A counterexample, as far as a promotion needs it."""

    id: str
    key: str
    kind: Literal["call", "sequence"]
    tool: str
    selectors: dict[str, str]
    arg_keys: tuple[str, ...]
    steps: tuple[Step, ...]
    labels: tuple[str, ...]
    error_class: str | None
    n_failures: _Count
    n_calls: _Count
    n_without: WithoutFields
    harm_low: _Share
    first_seen: datetime
    last_seen: datetime
    suggested_append: SuggestedFields | None
    refused: str | None = None
    providers: dict[str, int] = {}


class _File(msgspec.Struct, frozen=True):
    schema_version: int
    generated_at: datetime
    candidates: tuple[CandidateFields, ...] = ()
    counterexamples: tuple[CounterexampleFields, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """One text for one docstring, with what speaks for it.

    Attributes
    ----------
    phase : str
        ``R``: what keeps working, ``F``: what keeps failing.
    file, symbol : str
        Where the docstring is: a path below the project's folder, a qualname (``name:LINE`` where one is
        defined twice).
    section, lines : str and tuple of str
        What is appended where.
    day : date
        Of the proposals file; it names the branch.
    steps, questions : tuple of str
        What a replay asks and expects; none for a caveat.
    providers : tuple of str
        Whose caps bind.
    evidence : str
        One clause of figures.
    observed, unique_questions, success_rate : str
        As the trailers have them.
    rows : tuple of (str, str)
        The evidence as a table.
    """

    phase: Phase
    id: str
    key: str
    engine: str
    axis: str | None
    file: str
    symbol: str
    section: str
    lines: tuple[str, ...]
    day: date
    steps: tuple[str, ...] = ()
    questions: tuple[str, ...] = ()
    providers: tuple[str, ...] = ()
    evidence: str
    observed: str
    unique_questions: str
    success_rate: str
    rows: tuple[tuple[str, str], ...]


def read_proposal(path: Path, wanted: str, settings: Settings) -> Proposal:
    """Read one candidate or counterexample and check every text that will be shown to others.

    Parameters
    ----------
    path : Path
        A candidates or counterexamples file.
    wanted : str
        An id in it.
    settings : Settings
        The categories' keywords: others may not be written.

    Raises
    ------
    WorkspaceError
        The file is not there or is no file of proposals.
    UsageError
        It has no such id.
    RefusedError
        The proposal has no text or no target, or a text is not of the closed vocabulary.
    """
    try:
        document = msgspec.json.decode(path.read_bytes(), type=_File)
    except OSError as error:
        raise WorkspaceError(f"cannot be read ({error.strerror})", path=path) from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise WorkspaceError(f"is no candidates file ({error})", path=path) from error
    if document.schema_version > _SCHEMA_VERSION:
        raise WorkspaceError(f"has schema version {document.schema_version}; upgrade coreloop", path=path)
    entries: tuple[CandidateFields | CounterexampleFields, ...] = (
        *document.candidates,
        *document.counterexamples,
    )
    found = next((one for one in entries if one.id == wanted), None)
    if found is None:
        ids = ", ".join(printable(one.id) for one in entries[:3]) or "none at all"
        raise UsageError(f"{path.name} has no {printable(wanted)}; it has {ids}")
    day = document.generated_at.date()
    if isinstance(found, CandidateFields):
        return _guide(found, day, settings.keywords(found.cat_hash))
    return _caveat(found, day)


def _guide(found: CandidateFields, day: date, keywords: tuple[str, ...]) -> Proposal:
    _check_names(found.id, found.key, found.engine)
    if not is_category(found.cat_hash):
        raise RefusedError(f"{found.id} is refused: its category is no label")
    file, symbol, lines = _checked_text(
        found.id, found.engine, found.suggested_append, found.refused, SECTIONS["R"]
    )
    succeeded = f"{round(found.success_rate * found.n_observed)} of {found.n_observed}"
    evidence = (
        f"- Evidence: {succeeded} requests, {found.n_unique_questions} distinct questions, {_days(found)} "
        f"(95 % lower bound {found.success_low:.2f}, category {found.base_rate:.2f})."
    )
    if not (
        len(lines) == 3
        and is_when(lines[0], category=found.cat_hash, keywords=keywords)
        and is_call(lines[1], found.tool_pattern)
        and lines[2] == evidence
        and found.engine in {one.name for one in found.tool_pattern}
    ):
        raise RefusedError(_not_ours(found.id))
    return Proposal(
        phase="R",
        id=found.id,
        key=found.key,
        engine=found.engine,
        axis=found.axis,
        file=file,
        symbol=symbol,
        section=SECTIONS["R"],
        lines=lines,
        day=day,
        steps=tuple(step(one.name, one.selectors, one.selectors) for one in found.tool_pattern),
        questions=found.example_questions,
        providers=tuple(found.providers),
        evidence=f"{succeeded} requests, lower bound {found.success_low:.2f}",
        observed=str(found.n_observed),
        unique_questions=str(found.n_unique_questions),
        success_rate=f"{found.success_rate:.3f}",
        rows=(
            ("requests", f"{succeeded} succeeded"),
            ("distinct questions", str(found.n_unique_questions)),
            *([("gate", "relaxed by the playbook")] if found.evidence_rank > 1 else []),
            ("success rate, 95 % lower bound", f"{found.success_rate:.2f}, {found.success_low:.2f}"),
            (f"category {found.cat_hash}", f"{found.base_rate:.2f}"),
            _seen(found),
            ("candidate", f"{found.id}, key `{found.key}`"),
        ),
    )


def _caveat(found: CounterexampleFields, day: date) -> Proposal:
    _check_names(found.id, found.key, found.tool)
    if not {*found.labels, *filter(None, [found.error_class])} <= {*LABELS, *CLASSES}:
        raise RefusedError(f"{found.id} is refused: its labels are not those of the failure taxonomy")
    file, symbol, lines = _checked_text(
        found.id, found.tool, found.suggested_append, found.refused, SECTIONS["F"]
    )
    evidence = f"- Evidence: {_days(found)} (95 % lower bound of the failing share {found.harm_low:.2f})."
    if not (len(lines) == 2 and _is_failure(lines[0], found) and lines[1] == evidence):
        raise RefusedError(_not_ours(found.id))
    what = "calls" if found.kind == "call" else "requests"
    failed = f"{found.n_failures} of {found.n_calls} {what}"
    without = found.n_without
    succeeded = found.n_calls - found.n_failures
    return Proposal(
        phase="F",
        id=found.id,
        key=found.key,
        engine=found.tool,
        axis=next(iter(found.selectors.values()), None),
        file=file,
        symbol=symbol,
        section=SECTIONS["F"],
        lines=lines,
        day=day,
        providers=tuple(found.providers),
        evidence=f"{failed} failed, lower bound {found.harm_low:.2f}",
        observed=str(found.n_calls),
        unique_questions="not-applicable",
        success_rate=f"{succeeded / found.n_calls if found.n_calls else 0:.3f}",
        rows=(
            (what, f"{failed} failed"),
            ("failing share, 95 % lower bound", f"{found.harm_low:.2f}"),
            ("what failed", ", ".join(filter(None, [*found.labels, found.error_class]))),
            ("called otherwise", f"{without.n_failures} of {without.n_calls} failed"),
            _seen(found),
            ("counterexample", f"{found.id}, key `{found.key}`"),
        ),
    )


def _is_failure(line: str, found: CounterexampleFields) -> bool:
    if found.kind == "sequence":
        succeeded = found.n_calls - found.n_failures
        return is_failing_sequence(line, found.steps, succeeded=succeeded, requests=found.n_calls)
    without = found.n_without
    return is_failing_call(
        line,
        Step(found.tool, found.selectors, found.arg_keys),
        others=without.arg_keys,
        error_class=found.error_class,
        counts=(found.n_failures, found.n_calls, without.n_failures, without.n_calls),
    )


def _not_ours(id: str) -> str:
    return f"{id} is refused: its text is not what coreloop writes for its figures; propose again"


def _days(found: CandidateFields | CounterexampleFields) -> str:
    return f"{found.first_seen:%Y-%m-%d} to {found.last_seen:%Y-%m-%d}"


def _seen(found: CandidateFields | CounterexampleFields) -> tuple[str, str]:
    return "seen", _days(found)


def _check_names(id: str, key: str, engine: str) -> None:
    if not (CANDIDATE_ID.fullmatch(id) and CANDIDATE_KEY.fullmatch(key)):
        raise RefusedError("the proposal is refused: its id or key is not one that coreloop gives")
    if not is_tool_name(engine):
        raise RefusedError(f"{id} is refused: its engine is no plain name")


def _checked_text(
    id: str, engine: str, suggested: SuggestedFields | None, refused: str | None, section: str
) -> tuple[str, str, tuple[str, ...]]:
    """File, symbol and lines, once nothing is wrong with them."""
    if suggested is None:
        raise RefusedError(f"{id} has no text: {printable(refused or 'none was drafted')}")
    if suggested.target_file is None or suggested.target_symbol is None:
        raise RefusedError(f"{id} has no target: name {engine} under tools: and propose again")
    lines = tuple(suggested.body.splitlines())
    reason = next(filter(None, map(refuse_line, lines)), None)
    if reason is not None:
        raise RefusedError(f"{id} is refused: {reason}")
    if suggested.section != section or not lines:
        raise RefusedError(f"{id} is refused: it has no lines, or not for {section}")
    file = PurePosixPath(suggested.target_file)
    if file.is_absolute() or ".." in file.parts or not SYMBOL.fullmatch(suggested.target_symbol):
        raise RefusedError(f"{id} is refused: its target is no path.py::name below the project")
    return file.as_posix(), suggested.target_symbol, lines
