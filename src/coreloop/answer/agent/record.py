"""The sources and reports of an agent: what it read is numbered and kept, what it reports is checked.

What is believed are sentences of sources that coreloop read itself around the quote, never the agent's words.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from coreloop.answer.agent.agent_state import AgentKnowledge, agent_knowledge, trust_in
from coreloop.answer.agent.plan import order_of, require_order
from coreloop.answer.research.findings import Finding
from coreloop.answer.research.reflect import Change, add_findings, noted, weigh, with_new
from coreloop.answer.research.research_state import DROPPED, READ, REFLECTED, THOUGHT, Dropped, ReadSource
from coreloop.answer.research.run_searches import WEB, origin_of
from coreloop.answer.research.verify import REJECTED, is_rejected, source_number
from coreloop.answer.search.extract.document import MAX_CHARS, Unreadable, clean_text
from coreloop.answer.search.extract.kinds import MAX_FILE_BYTES, document_of
from coreloop.answer.search.extract.text import Passage, plain_document, split_passages
from coreloop.answer.search.provider import Empty, Found, SearchLimits, Source
from coreloop.answer.text.claims import holds, split_sentences
from coreloop.answer.text.terms import term_set
from coreloop.base.errors import GitError, UsageError
from coreloop.base.files import read_file
from coreloop.base.git.repository import Repository
from coreloop.base.messages import in_language_of
from coreloop.base.records import encodable
from coreloop.runs import events as happened
from coreloop.runs.agent.agent_report import AgentReport, Learnt, answered_parts
from coreloop.runs.agent.agent_runs import record_report
from coreloop.runs.agent.json_input import wrong_field
from coreloop.runs.agent.next_step import situation
from coreloop.runs.clock import SystemClock
from coreloop.runs.drift import check_drift
from coreloop.runs.events import Reported
from coreloop.runs.load import change_run, load_run, require_going
from coreloop.runs.reflexion import PastFailure, Reflexion
from coreloop.runs.state import State
from coreloop.runs.stores.store import Store

if TYPE_CHECKING:
    from coreloop.answer.search.page import PageReader

SHOWN_CHARS: Final = 6_000  # of a source at once; about 1,500 tokens, so that five sources fit an iteration


class Shown(NamedTuple):
    """A source as the agent sees it.

    Attributes
    ----------
    read : ReadSource
        With its whole text.
    note : str
        Why coreloop did not read it itself, "" if it did.
    passages : tuple of Passage
        A part of its text.
    following : int or None
        Where the text goes on behind the passages; None at its end, and if they were chosen by a query.
    """

    read: ReadSource
    note: str
    passages: tuple[Passage, ...]
    following: int | None

    @property
    def trust(self) -> str:
        return trust_in(self.read)


def read_source(
    store: Store,
    run_id: str,
    place: str,
    *,
    root: Path,
    pages: "PageReader",
    text: str | None = None,
    query: str = "",
    start: int = 0,
) -> Shown:
    """Read a source, store it with its number, and return a part of it.

    Parameters
    ----------
    store, run_id
        Of the run.
    place : str
        An address, a path of a file of the project, or the number of a source that is stored already.
    root : Path
        The project's folder.
    pages : PageReader
        Reads addresses.
    text : str or None
        What the agent's own tools found there; counts only where coreloop cannot read the place itself.
    query : str
        Show the passages nearest to it; "" for those in their order.
    start : int
        Show the text from a place on.

    Raises
    ------
    UsageError
        The place cannot be read and no text was given, or the number is unknown.
    RunNotFoundError, RunEndedError
        The store has no such run, or it is over.
    """
    now = SystemClock().now()
    state = load_run(store, run_id)[0].state
    head = agent_knowledge(state).head  # of another run nothing is stored
    if place.isdecimal():
        return _shown(_stored(store, state, int(place)), "", query, start)
    require_going(state)
    if place.startswith(WEB):
        answer = pages.read(place, SearchLimits())
        found = answer.sources[0] if isinstance(answer, Found) else None
        note = "nothing to read there" if isinstance(answer, Empty) else getattr(answer, "reason", "")
    else:
        found, note = _file(place, head, root=root.resolve(), now=now)
    if found is None and (text is None or not text.strip()):
        raise UsageError(
            f"{place}: {note}; nothing was stored. If your own tools can read it, give their text by --text"
        )
    source = found or _source(place, "web" if place.startswith(WEB) else "text", clean_text(text or ""), now)
    return _shown(_keep(store, run_id, source, now), note, query, start)


def _file(place: str, head: str, *, root: Path, now: datetime) -> tuple[Source | None, str]:
    """Return a file of the project as a source, and why it is none, or no more than the agent's word."""
    path = (root / place).resolve()
    if not path.is_relative_to(root):
        return None, "leads out of the project"
    if not path.is_file():
        return None, "no such file"
    if path.stat().st_size > MAX_FILE_BYTES:
        return None, f"larger than {MAX_FILE_BYTES // 1_000_000} MB"
    document = document_of(data := read_file(path), path.name)
    if isinstance(document, Unreadable):
        return None, document.reason
    if not document.text.strip():
        return None, "has no text"
    source = _source(path.relative_to(root).as_posix(), document.type, document.text, now)
    source = replace(source, title=document.title or place)
    if _was_committed(path, data, head):
        return replace(source, provider="file"), ""
    return source, "not in git, as it is now, before the run began"


def _was_committed(path: Path, data: bytes, head: str) -> bool:
    """Whether a file stood in the commit from which the run began, with the same content."""
    with suppress(GitError):
        repository = Repository(path.parent)
        name = path.relative_to(repository.root.resolve()).as_posix()
        return bool(head) and repository.read(head, name) == data
    return False


def _source(location: str, kind: str, text: str, now: datetime) -> Source:
    """Return a text that the agent brought."""
    name, text = encodable(location), text[:MAX_CHARS]
    return Source(
        title=name, location=name, type=kind, text=text, retrieved_at=now, start=0, provider="agent"
    )


def _keep(store: Store, run_id: str, source: Source, now: datetime) -> ReadSource:
    """Number a source; one with the same place and text has its number already."""

    def recorded(state: State) -> list[happened.Event]:
        require_going(state)
        earlier = stored_sources(store, state)
        if any(_identity(read.source) == _identity(source) for read in earlier):
            return []
        number = len(earlier) + 1
        new = ReadSource(number, source, origin_of(source, earlier), "", state.iteration + 1)
        events = (
            happened.SourceRead(at=now, source=source.location),
            happened.Noted(at=now, name=READ, data=msgspec.to_builtins(new)),
        )
        return [happened.Recorded(at=now, events=events)]

    kept = stored_sources(store, change_run(store, run_id, recorded))
    return next(read for read in kept if _identity(read.source) == _identity(source))


def _identity(source: Source) -> tuple[str, str, str]:
    return source.location, source.text, source.provider


def stored_sources(store: Store, state: State) -> list[ReadSource]:
    """Return the sources of a run with their whole texts."""
    recorded = (event for _, event in store.read(state.run_id) if isinstance(event, happened.Recorded))
    notes = (part for event in recorded for part in event.events if isinstance(part, happened.Noted))
    return [msgspec.convert(note.data, ReadSource) for note in notes if note.name == READ]


def _stored(store: Store, state: State, number: int) -> ReadSource:
    sources = stored_sources(store, state)
    if not 0 < number <= len(sources):
        there_are = f"the run has 1 to {len(sources)}" if sources else "the run has none; read one first"
        raise UsageError(f"no source {number}; {there_are}")
    return sources[number - 1]


def _shown(read: ReadSource, note: str, query: str, start: int) -> Shown:
    parts = [part for part in split_passages(plain_document(read.source.text)) if part.end > start]
    if query:
        asked = term_set(query)
        parts.sort(key=lambda part: -len(asked & term_set(part.text)))
    shown: list[Passage] = []
    for part in parts:
        if sum(len(one.text) for one in shown) < SHOWN_CHARS:
            shown.append(part)
    following = None if query or len(shown) == len(parts) else shown[-1].end
    shown.sort(key=lambda part: part.start)
    return Shown(read=read, note=note, passages=tuple(shown), following=following)


# Share of a sub-question's letters that an answer has: 89 % of 500 answering sentences of KorQuAD, 24 % of
# other sentences of the same paragraph, 1 % of sentences about something else.
ABOUT_FROM: Final = 0.3
_MOST_SENTENCES: Final = 6  # of a quote; a longer one stays as it is


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedIteration:
    """What comes of an iteration.

    Attributes
    ----------
    state : State
        After it was committed.
    iteration : int
        Its number.
    unbelieved : tuple of Dropped
        What of an agent's report is not believed, and why.
    failures : tuple of PastFailure
        If the run is stuck: what failed in similar situations, and what solved it.
    """

    state: State
    iteration: int
    unbelieved: tuple[Dropped, ...] = ()
    failures: tuple[PastFailure, ...] = ()


def record_iteration(
    store: Store, run_id: str, report: AgentReport, *, rejections: Callable[..., frozenset[str]]
) -> RecordedIteration:
    """Check the findings of a report and commit it, all of it or none.

    Parameters
    ----------
    store, run_id, report
        As for `coreloop.runs.agent.agent_runs.record_report`.
    rejections : callable
        Returns what persons rejected as answers to questions: those of the run are believed of no report.

    Raises
    ------
    UsageError
        A field does not fit the run, it has no search, or follows a strategy that the run must leave.
    RunNotFoundError, RunEndedError
        The store has no such run, or it is over.
    """

    def believed(state: State, report: AgentReport, ids: Mapping[str, str], at: datetime) -> list[Reported]:
        known = agent_knowledge(state)  # of another run nothing is recorded
        if state.drives_itself:
            _require_search(state, report)
        known.sources = stored_sources(store, state)
        texts = {part: text for text, part in ids.items() if text != part}
        checking = _Checking(state, known, texts, rejections(state.question, *texts.values()))
        return [event_type(at=at, **fields) for event_type, fields in checking.changes(report, ids)]

    state = record_report(store, run_id, report, believe=believed)
    number = state.iteration if state.drives_itself else state.iteration + 1
    unbelieved = tuple(one for one in agent_knowledge(state).dropped if one.iteration == number)
    return RecordedIteration(
        state=state, iteration=number, unbelieved=unbelieved, failures=_failures(store, state, report)
    )


def _require_search(state: State, report: AgentReport) -> None:
    """Refuse an iteration without a search, or one that does not follow the strategy that drift ordered."""
    if not report.queries:
        raise wrong_field("$.queries", "each iteration makes at least one new search; search, then record")
    labels = [(getattr(one, "tool", ""), frozenset(getattr(one, "strategy", ()))) for one in report.actions]
    require_order(order_of(state), "$.actions", labels)


class _Checking(NamedTuple):
    """The checks of a report.

    Attributes
    ----------
    state : State
        Of the run before the report.
    known : AgentKnowledge
        With the whole texts of its sources.
    texts : mapping of str to str
        Of the sub-questions, by their ids.
    rejected : frozenset of str
        What is believed of no report.
    """

    state: State
    known: AgentKnowledge
    texts: Mapping[str, str]
    rejected: frozenset[str]

    @property
    def iteration(self) -> int:
        return self.state.iteration + 1

    def changes(self, report: AgentReport, ids: Mapping[str, str]) -> Iterator[Change]:
        """Yield what follows from a report."""
        hypotheses = with_new(self.known.all_hypotheses, report.hypotheses, iteration=self.iteration)
        known = [one.id for one in hypotheses]
        findings: list[Finding] = []
        evidence = []
        for place, learnt in enumerate(report.findings):
            if learnt.hypothesis not in {None, *known}:
                names = ", ".join(known) or "none yet; add it to hypotheses"
                message = f"no hypothesis {str(learnt.hypothesis)[:80]}; the run has {names}"
                raise wrong_field(f"$.findings[{place}].hypothesis", message)
            finding, doubts = self._judged(learnt, place, ids)
            if doubts:
                doubt = Dropped(finding.text, "; ".join(doubts), learnt.places, self.iteration)
                yield noted(DROPPED, doubt)
            if finding.sources:
                evidence.append((finding.text, learnt.hypothesis, learnt.stance))
            elif REJECTED in doubts:
                continue
            for source in () if finding.sources else learnt.places or ("",):
                yield happened.FindingRecorded, {"sub_question": "", "text": finding.text, "source": source}
            findings.append(finding)
        yield from add_findings(self.known, findings)
        yield from weigh(self.known, report.hypotheses, evidence, iteration=self.iteration)
        yield from self._thoughts(report)

    def _judged(self, learnt: Learnt, place: int, ids: Mapping[str, str]) -> tuple[Finding, list[str]]:
        """Return a finding with the sources that have its quote, and what of it is not believed."""
        tell = in_language_of(self.state.question)
        quote = " ".join((learnt.quote or learnt.text).split())
        sources, doubts = self._quoting(learnt, place, quote)
        said = sentences_of(self.known.sources[sources[0] - 1].source.text, quote) if sources else quote
        parts = answered_parts(learnt, place, ids)
        answers = tuple(part for part in parts if sources and is_about(self.texts[part], said))
        doubts += [
            tell("its quote shares too few words with {part} to answer it", part=part)
            for part in parts
            if sources and part not in answers
        ]
        finding = Finding(text=said, sources=tuple(sources), iteration=self.iteration, answers=answers)
        return finding, doubts

    def _quoting(self, learnt: Learnt, place: int, quote: str) -> tuple[list[int], list[str]]:
        """Return the sources in which the quote stands, and why the others do not count."""
        tell = in_language_of(self.state.question)
        numbers: list[int] = []
        doubts = [] if learnt.places else [tell("it has no source")]
        for name in learnt.places:
            number = source_number(name)
            if number is None:
                text = "coreloop has not read {place}; read it with runs read, and name its number"
                doubts.append(tell(text, place=name[:80]))
                continue
            read = self.known.source(number)
            if read is None:
                last = len(self.known.sources)
                there_are = f"the run has 1 to {last}" if last else "read one with runs read"
                raise wrong_field(f"$.findings[{place}].sources", f"no source {number}; {there_are}")
            if trust_in(read) == "given":
                text = "source {number} is a text that you gave, which coreloop could not read itself"
                doubts.append(tell(text, number=number))
            elif not holds(read.source.text, quote):
                text = "the quote does not stand in source {number}; quote it word for word"
                doubts.append(tell(text, number=number))
            elif any(is_rejected(text, self.rejected) for text in (quote, learnt.text)):
                doubts.append(REJECTED)
            else:
                numbers.append(number)
        return numbers, doubts

    def _thoughts(self, report: AgentReport) -> Iterator[Change]:
        said = {name: value for name, value in msgspec.to_builtins(report.reflection).items() if value}
        if said:
            yield noted(THOUGHT, {"iteration": self.iteration, **said})
        missing = [report.reflection.missing] if report.reflection.missing else []
        if report.uncertainties or missing:
            uncertain = [f"{one.text} (needs {one.needs})" for one in report.uncertainties[:3]]
            data = {"model": "", "gaps": [], "uncertainties": uncertain, "missing": missing}
            yield noted(REFLECTED, data)


def is_about(question: str, text: str) -> bool:
    """Whether a text has enough of a question's words to answer it."""
    asked = term_set(question)
    return bool(asked) and len(asked & term_set(text)) >= ABOUT_FROM * len(asked)


def sentences_of(text: str, quote: str) -> str:
    """The whole sentences that a quote was cut from, so that no denial before it is lost."""
    sentences = split_sentences(text)
    for size in range(1, _MOST_SENTENCES):
        for first in range(len(sentences) - size + 1):
            if holds(whole := " ".join(sentences[first : first + size]), quote):
                return whole
    return quote


def _failures(store: Store, state: State, report: AgentReport) -> tuple[PastFailure, ...]:
    """What failed in situations like this one, if the run is stuck by drift's count or by its own word."""
    turn = check_drift(state)
    if not ((turn and turn.rule == "no_new_information") or report.reflection.is_stuck):
        return ()
    return Reflexion.from_json(store.reflexion(state.kind)).similar(situation(state)).failures
