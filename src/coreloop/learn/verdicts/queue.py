"""The queue of items to judge, where verdicts matter most: near the gate, waiting, conflicting."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

import polars as pl

from coreloop.base.date_range import Days
from coreloop.base.messages import number_of
from coreloop.base.project.settings import Gates
from coreloop.base.project.workspace import Workspace
from coreloop.learn.mine.joined_calls import NO_QUESTION
from coreloop.learn.mine.run import UNWATCHED, Mined, MiningOptions, Watch, open_mining
from coreloop.learn.mine.window import IS_FAILURE, IS_SUCCESS, Window, count_patterns, merge
from coreloop.learn.pattern.find_candidates import find_candidates
from coreloop.learn.proposals.candidates import Candidate
from coreloop.learn.verdicts.judge import damaged_files
from coreloop.learn.verdicts.proposal_state import UNDECIDED, Standpoint, pending, project_states
from coreloop.observe.judgments import HumanVerdicts, read_verdicts
from coreloop.observe.reading.decode import RecordLine

MOST_MISSING: Final = 2
"""Most successes that a pattern near the gate may lack."""
_WINDOW: Final = timedelta(days=30)  # as `pattern` and `refine` by default
_REQUESTS_SHOWN: Final = 3
_QUESTION: Final = ("sequence", "question")


class WaitingKind(StrEnum):
    """Why an item is in the queue."""

    NEAR = "near the gate"
    PENDING = "waiting"
    CONFLICT = "conflicting"


@dataclass(frozen=True, slots=True)
class Waiting:
    """An item to judge; ``text`` is a request's question, a statement's line or a candidate's steps."""

    kind: WaitingKind
    id: str
    reason: str
    text: str


@dataclass(frozen=True, slots=True)
class _Failing:
    """A failed request without a verdict."""

    id: str
    text: str
    category: str
    sequence: int
    question: int
    ts_us: int


@dataclass(frozen=True, slots=True)
class Queue:
    """The items to judge, the mined records, the folder of records if absent, and the skipped files."""

    waiting: Sequence[Waiting]
    mined: Mined
    missing: Path | None = None
    damaged: tuple[str, ...] = ()


def read_queue(workspace: Workspace, *, now: datetime, watch: Watch = UNWATCHED) -> Queue:
    """List the items to judge among a project's newest requests and all of its proposals.

    Parameters
    ----------
    now : datetime
        Aware; the window is the 30 days before it.
    watch : Watch, optional
        Callbacks of the mining.

    Raises
    ------
    WorkspaceError
        Records or verdicts are unreadable.
    GitError
        The clone is shallow, so its promotions cannot be read.
    """
    days = Days(now.date() - _WINDOW, now.date())
    with _open(workspace, watch) as mined:
        waiting = find_waiting(
            merge(mined.files, days),
            workspace.settings.gates,
            judgments=mined.judgments,
            states=project_states(workspace, mined.judgments, now=now),
            today=now.date(),
        )
    missing = None if workspace.records_dir.is_dir() else workspace.records_dir
    return Queue(waiting, mined, missing, damaged_files(workspace))


def _open(workspace: Workspace, watch: Watch) -> AbstractContextManager[Mined]:
    """The project's records; empty without a records folder, since proposals may still wait."""
    if workspace.records_dir.is_dir():
        return open_mining(workspace, MiningOptions(), watch=watch)
    return nullcontext(Mined(workspace, (), read_verdicts(workspace.judgments_dir)))


def find_waiting(
    window: Window,
    gate: Gates,
    *,
    judgments: HumanVerdicts,
    states: Sequence[Standpoint],
    today: date,
) -> list[Waiting]:
    """List the items for which a verdict matters most.

    Parameters
    ----------
    window : Window
        Mined with the verdicts on requests; the lines of failed requests are read again.
    gate : Gates
        The gates of ``pattern``.
    judgments : HumanVerdicts
        Judged items are not listed again, unless people disagree.
    states : sequence of Standpoint
        Of all proposals.
    today : date
        The day of ``window``'s end, for the proposals' ages.

    Returns
    -------
    list of Waiting
        Near the gate (the fewest missing successes first), then waiting proposals (the oldest first), then
        conflicting. Each id is listed once, for its first reason.
    """
    settled = frozenset(one.key for one in states if one.state not in UNDECIDED)
    decided = settled | judgments.decided()
    nearly = _nearly_passed(window, gate, settled)
    mixed = _conflicting(window)
    failing = list(_find_failing(window, list(map(_pattern, nearly)), mixed.keys(), judgments))
    open_ones = pending(states)
    waiting = [
        *_near_requests(nearly, failing, gate),
        *_just_passed(_passed(window, gate, decided), open_ones, gate, today),
        *(_waiting(proposal, today) for proposal in open_ones),
        *_same_questions(failing, mixed, window.texts_of("sequence", (pair[0] for pair in mixed))),
        *_disagreements(judgments, {one.key: one.text for one in states}),
    ]
    return list({item.id: item for item in reversed(waiting)}.values())[::-1]


def _age(proposal: Standpoint, today: date) -> str:
    if proposal.has_returned:
        return "merged, and helped until the failure came back"
    days = (today - proposal.since).days
    if days > 0:
        return f"proposed {number_of(days, 'day')} ago"
    return "proposed today"


def _nearly_passed(window: Window, gate: Gates, known: frozenset[str]) -> list[Candidate]:
    """Patterns that lack only one or two successes, the fewest first."""
    reachable = (pl.col("n_success") + MOST_MISSING) / pl.col("n_observed") >= gate.min_success_rate
    near = count_patterns(window).filter(pl.col("success_rate") < gate.min_success_rate, reachable)
    narrowed = replace(
        window, groups=window.groups.filter(pl.col("pattern").is_in(near["pattern"].implode()))
    )
    relaxed, enough = replace(gate, min_success_rate=0.0), gate.min_unique_questions
    nearly = find_candidates(narrowed, relaxed, known=known, enough_questions=enough).candidates
    return sorted(nearly, key=lambda pattern: (_missing(pattern, gate), -pattern.n_observed, pattern.key))


def _missing(candidate: Candidate, gate: Gates) -> int:
    """Least number of failures that must turn into successes."""
    rates = ((_successes(candidate) + more) / candidate.n_observed for more in range(1, MOST_MISSING + 1))
    return 1 + sum(rate < gate.min_success_rate for rate in rates)


def _conflicting(window: Window) -> dict[tuple[int, int], tuple[int, int]]:
    """Successes and failures by sequence and question, if both occur."""
    mixed = (
        _with_sequence(window)
        .filter(pl.col("question") != NO_QUESTION)
        .group_by(_QUESTION)
        .agg(good=IS_SUCCESS.sum(), bad=IS_FAILURE.sum())
        .filter(pl.col("good") > 0, pl.col("bad") > 0)
        .collect()
    )
    return {(sequence, question): (good, bad) for sequence, question, good, bad in mixed.iter_rows()}


def _with_sequence(window: Window) -> pl.LazyFrame:
    patterns = window.groups.select("pattern", "category", "sequence").unique()
    return window.requests.join(patterns, on="pattern")


def _find_failing(
    window: Window,
    patterns: Sequence[tuple[str, int]],
    questions: Iterable[tuple[int, int]],
    judgments: HumanVerdicts,
) -> Iterator[_Failing]:
    """Failed requests without a verdict, of some patterns or of some questions with some sequences."""
    failed = _with_sequence(window).filter(IS_FAILURE)
    schema = failed.collect_schema()
    selected = [
        failed.join(
            pl.LazyFrame(list(values), schema={name: schema[name] for name in on}, orient="row"),
            on=on,
            how="semi",
        )
        for on, values in ((("category", "sequence"), patterns), (_QUESTION, questions))
    ]
    places = pl.concat(selected).unique().sort("file", "offset").collect()
    given = judgments.of_requests()
    rows = {(row["file"], row["offset"]): row for row in places.iter_rows(named=True)}
    for file, offset, line in window.lines(rows):
        if _is_unjudged(line, given):
            fields = line.fields
            yield _Failing(fields.request_id or "", fields.question or "", *_where(rows[file, offset]))


def _is_unjudged(line: RecordLine, given: Mapping[str, str]) -> bool:
    fields = line.fields
    judged = fields.judgment is not None and fields.judgment.verdict is not None
    return bool(fields.request_id) and not judged and fields.request_id not in given


def _where(row: Mapping[str, Any]) -> tuple[str, int, int, int]:
    return row["category"], row["sequence"], row["question"], row["ts_us"]


def _near_requests(nearly: Iterable[Candidate], failing: list[_Failing], gate: Gates) -> Iterator[Waiting]:
    for candidate in nearly:
        own = [request for request in failing if (request.category, request.sequence) == _pattern(candidate)]
        missing = _missing(candidate, gate)
        if len(own) < missing:  # the others have a verdict, or no id
            continue
        reason = (
            f"failed; {_successes(candidate)} of {candidate.n_observed} succeeded, {missing} more "
            f"would pass the gate: {_steps(candidate)}"
        )
        for request in sorted(own, key=lambda request: -request.ts_us)[:_REQUESTS_SHOWN]:
            yield Waiting(WaitingKind.NEAR, request.id, reason, request.text)


def _passed(window: Window, gate: Gates, known: frozenset[str]) -> Sequence[Candidate]:
    """What `_just_passed` chooses from: it shows a number of questions only up to these."""
    enough = max(gate.min_unique_questions + 1, gate.min_repeat)
    return find_candidates(window, gate, known=known, enough_questions=enough).candidates


def _just_passed(
    candidates: Iterable[Candidate], waiting: Iterable[Standpoint], gate: Gates, today: date
) -> Iterator[Waiting]:
    """Pending candidates that would fail the gate with one request or one question fewer."""
    by_key = {proposal.key: proposal for proposal in waiting}
    for candidate in sorted(candidates, key=lambda entry: (entry.n_observed, entry.n_unique_questions)):
        requests, questions = candidate.n_observed, candidate.n_unique_questions
        is_clear = requests > gate.min_repeat and questions > gate.min_unique_questions
        if candidate.key in by_key and not is_clear:
            proposal = by_key[candidate.key]
            reason = (
                f"only just passed: {number_of(requests, 'request')}, "
                f"{number_of(questions, 'different question')}; {_age(proposal, today)}"
            )
            yield Waiting(WaitingKind.NEAR, proposal.id, reason, _steps(candidate))


def _waiting(proposal: Standpoint, today: date) -> Waiting:
    reason = f"{_age(proposal, today)}, never judged"
    return Waiting(WaitingKind.PENDING, proposal.id, reason, proposal.text)


def _same_questions(
    failing: Iterable[_Failing],
    mixed: Mapping[tuple[int, int], tuple[int, int]],
    sequences: Mapping[int, str],
) -> Iterator[Waiting]:
    """The newest failure of each question that succeeded and failed with the same steps."""
    by_time = sorted(failing, key=lambda request: request.ts_us)
    newest = {(request.sequence, request.question): request for request in by_time}
    for pair, request in newest.items():
        if pair not in mixed:
            continue
        good, bad = mixed[pair]
        reason = (
            f"failed; the same question with the same steps succeeded {number_of(good, 'time')} "
            f"and failed {number_of(bad, 'time')}: "
            f"{sequences.get(pair[0], 'steps that were cut off')}"
        )
        yield Waiting(WaitingKind.CONFLICT, request.id, reason, request.text)


def _disagreements(judgments: HumanVerdicts, texts: Mapping[str, str]) -> Iterator[Waiting]:
    for newest, other in judgments.disagreements():
        first, last = (f"{entry.judged_by} said {entry.verdict.named}" for entry in (other, newest))
        reason = f"{first} but {last}{f' ({newest.cause})' if newest.cause else ''}; the newest counts"
        yield Waiting(WaitingKind.CONFLICT, newest.id, reason, texts.get(newest.subject, ""))


def _pattern(candidate: Candidate) -> tuple[str, int]:
    return candidate.cat_hash, int(candidate.seq_hash.rpartition(":")[2], 16)


def _successes(candidate: Candidate) -> int:
    return round(candidate.success_rate * candidate.n_observed)


def _steps(candidate: Candidate) -> str:
    return " > ".join(map(str, candidate.tool_pattern))
