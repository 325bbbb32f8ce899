"""A page, a file or a text becomes a numbered source of a run, whose findings are checked against it."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from coreloop.answer.agent.agent_state import (
    BEGAN,
    TEXT,
    Trust,
    agent_knowledge,
    stored_texts,
    trust_in,
)
from coreloop.answer.research.origins import origin_of
from coreloop.answer.research.research_state import READ, Knowledge, ReadSource, knowledge_of
from coreloop.answer.search.extract.decode import clean_text
from coreloop.answer.search.extract.document import MAX_CHARS, Document, Section, Unreadable
from coreloop.answer.search.extract.kinds import extractor_of
from coreloop.answer.search.extract.split_passages import Passage, split_passages
from coreloop.answer.search.extract.text import extract_plain
from coreloop.answer.search.provider import Empty, Found, SearchLimits
from coreloop.answer.search.source import Source
from coreloop.answer.text.terms import term_set
from coreloop.base.errors import GitError, UsageError
from coreloop.base.files import read_file
from coreloop.base.git.repository import Repository
from coreloop.runs import events as happened
from coreloop.runs.clock import Clock, SystemClock
from coreloop.runs.load import load_run, require_going
from coreloop.runs.state import State
from coreloop.runs.stores.store import Store

if TYPE_CHECKING:
    from coreloop.answer.search.page.reader import PageReader

SHOWN_CHARS: Final = 6_000
"""Of a source at once; about 1,500 tokens, so that five sources fit an iteration."""
_EXCERPT_CHARS: Final = 300
"""Of a source's text that stays in the state; the whole text is in the run's events."""
_WEB: Final = ("http://", "https://")
_MAX_FILE_BYTES: Final = 20_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
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
    def trust(self) -> Trust:
        return trust_in(self.read)


@dataclass(frozen=True, slots=True, kw_only=True)
class Excerpt:
    """Which part of a source to show: the passages nearest to a query, or those from a place on."""

    query: str = ""
    start: int = 0


def opening_events(root: Path) -> list[tuple[str, Any]]:
    """Return what a new run keeps of its project: the commit whose files are older than the run."""
    head = ""
    with suppress(GitError), Repository(root) as repository:
        head = repository.resolve("HEAD") or ""
    return [(BEGAN, {"head": head})]


def read_source(
    store: Store,
    run_id: str,
    place: str,
    *,
    root: Path,
    pages: "PageReader",
    text: str | None = None,
    wanted: Excerpt | None = None,
    clock: Clock | None = None,
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
    wanted : Excerpt or None
        None for the beginning.
    clock : Clock or None
        None for the machine's.

    Raises
    ------
    UsageError
        The place cannot be read and no text was given, or the number is unknown.
    RunNotFoundError, RunEndedError
        The store has no such run, or it is over.
    """
    wanted = wanted or Excerpt()
    now = (clock or SystemClock()).now()
    state = load_run(store, run_id)[0].state
    agent_knowledge(state)  # of another run nothing is stored
    if place.isdecimal():
        return _shown(_stored(store, state, int(place)), "", wanted)
    require_going(state)
    source, note = _read(place, text, state, root=root, pages=pages, now=now)
    return _shown(_keep(store, run_id, source, now), note, wanted)


def _read(
    place: str, text: str | None, state: State, *, root: Path, pages: "PageReader", now: datetime
) -> tuple[Source, str]:
    """Return a source, and why its text is only the agent's, if it is."""
    if place.startswith(_WEB):
        answer = pages.read(place, SearchLimits())
        if isinstance(answer, Found):
            return answer.sources[0], ""
        reason = "nothing to read there" if isinstance(answer, Empty) else answer.reason
    else:
        found = _file(place, state, root=root, now=now)
        if isinstance(found, Source):
            is_older = found.provider == "file"
            return found, "" if is_older else "not in git, as it is now, before the run began"
        reason = found
    if text is None or not text.strip():
        raise UsageError(
            f"{place}: {reason}; nothing was stored. If your own tools can read it, give their text by --text"
        )
    return _given(place, text, now), str(reason)


def _file(place: str, state: State, *, root: Path, now: datetime) -> Source | str:
    """Return a file of the project as a source, or why it is none."""
    path = (root / place).resolve()
    if not path.is_relative_to(root.resolve()):
        return "leads out of the project"
    if not path.is_file():
        return "no such file"
    if path.stat().st_size > _MAX_FILE_BYTES:
        return f"has more than {_MAX_FILE_BYTES:,} bytes"
    data = read_file(path)
    document = (extractor_of(path.name) or extract_plain)(data)
    if isinstance(document, Unreadable):
        return document.reason
    if not document.text.strip():
        return "has no text"
    is_older = _was_committed(path, data, agent_knowledge(state).head)
    return Source(
        title=document.title or place,
        location=path.relative_to(root.resolve()).as_posix(),
        type=document.type,
        text=document.text[:MAX_CHARS],
        retrieved_at=now,
        start=0,
        provider="file" if is_older else "agent",
    )


def _was_committed(path: Path, data: bytes, head: str) -> bool:
    """Whether a file stood in the commit from which the run began, with the same content."""
    if not head:
        return False
    with suppress(GitError), Repository(path.parent) as repository:
        name = path.relative_to(repository.root.resolve()).as_posix()
        return repository.read(head, name) == data
    return False


def _given(place: str, text: str, now: datetime) -> Source:
    return Source(
        title=place,
        location=place,
        type="web" if place.startswith(_WEB) else "text",
        text=clean_text(text)[:MAX_CHARS],
        retrieved_at=now,
        start=0,
        provider="agent",
    )


def _keep(store: Store, run_id: str, source: Source, now: datetime) -> ReadSource:
    """Number a source; one with the same place and text has its number already."""
    while True:
        folding, newest = load_run(store, run_id)
        state = folding.state
        require_going(state)
        earlier = stored_sources(store, state)
        same = next((read for read in earlier if _is_same(read.source, source)), None)
        if same is not None:
            return same
        number = len(earlier) + 1
        read = ReadSource(number, source, origin_of(source, earlier), "", state.iteration + 1)
        excerpt = replace(read, source=replace(source, text=source.text[:_EXCERPT_CHARS]))
        recorded = happened.Recorded(
            at=now,
            events=(
                happened.SourceRead(at=now, source=source.location),
                happened.Noted(at=now, name=READ, data=msgspec.to_builtins(excerpt)),
                happened.Noted(at=now, name=TEXT, data={"number": number, "text": source.text}),
            ),
        )
        if not store.append(run_id, [recorded], after=newest):
            return read


def _is_same(one: Source, other: Source) -> bool:
    return (one.location, one.text, one.provider) == (other.location, other.text, other.provider)


def stored_sources(store: Store, state: State) -> list[ReadSource]:
    """Return the sources of a run with their whole texts."""
    texts = stored_texts(store, state.run_id)
    return [
        replace(read, source=replace(read.source, text=texts.get(read.number, read.source.text)))
        for read in knowledge_of(state).sources
    ]


def _stored(store: Store, state: State, number: int) -> ReadSource:
    require_source(knowledge_of(state), number)
    return stored_sources(store, state)[number - 1]


def require_source(knowledge: Knowledge, number: int) -> None:
    """Refuse a number that no source of a run has.

    Raises
    ------
    UsageError
        The message says which there are.
    """
    if knowledge.source(number) is None:
        last = len(knowledge.sources)
        there_are = f"the run has 1 to {last}" if last else "the run has none; read one first"
        raise UsageError(f"no source {number}; {there_are}")


def _shown(read: ReadSource, note: str, wanted: Excerpt) -> Shown:
    text = read.source.text
    whole = Document(type="", text=text, sections=(Section(start=0, end=len(text), line=1),))
    parts = list(split_passages(whole))
    if wanted.query:
        return Shown(read=read, note=note, passages=_nearest(parts, wanted.query), following=None)
    passages = tuple(_from(parts, wanted.start))
    end = passages[-1].end if passages else len(text)
    is_end = not any(part.start >= end for part in parts)
    return Shown(read=read, note=note, passages=passages, following=None if is_end else end)


def _nearest(parts: Sequence[Passage], query: str) -> tuple[Passage, ...]:
    """The passages that have the most letters of a query, as many as are shown at once, in their order."""
    letters = term_set(query)
    ranked = sorted(parts, key=lambda part: -len(letters & term_set(part.text)))
    best = list(_from(ranked, 0))
    return tuple(sorted(best, key=lambda part: part.start))


def _from(parts: Sequence[Passage], start: int) -> Iterator[Passage]:
    shown = 0
    for part in parts:
        if part.end > start and shown < SHOWN_CHARS:
            shown += len(part.text)
            yield part
