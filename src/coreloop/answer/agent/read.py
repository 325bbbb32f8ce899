"""A page, a file or a text becomes a numbered source of a run, whose findings are checked against it."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from coreloop.answer.agent.agent_state import TEXT, Trust, agent_knowledge, trust_in
from coreloop.answer.research.research_state import READ, ReadSource, knowledge_of
from coreloop.answer.research.run_searches import origin_of, passages_of
from coreloop.answer.search.extract.decode import clean_text
from coreloop.answer.search.extract.document import MAX_CHARS, Unreadable
from coreloop.answer.search.extract.kinds import read_document
from coreloop.answer.search.extract.split_passages import Passage
from coreloop.answer.search.provider import Empty, Found, SearchLimits
from coreloop.answer.search.source import Source
from coreloop.answer.text.terms import term_set
from coreloop.base.errors import GitError, UsageError
from coreloop.base.files import read_file
from coreloop.base.git.repository import Repository
from coreloop.runs import events as happened
from coreloop.runs.clock import Clock, SystemClock
from coreloop.runs.load import change_run, load_run, require_going
from coreloop.runs.state import State
from coreloop.runs.stores.store import Store

if TYPE_CHECKING:
    from coreloop.answer.search.page import PageReader

SHOWN_CHARS: Final = 6_000
"""Of a source at once; about 1,500 tokens, so that five sources fit an iteration."""
_EXCERPT_CHARS: Final = 300
"""Of a source's text that stays in the state; the whole text is in the run's events."""
_WEB: Final = ("http://", "https://")


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
    query : str
        Show the passages nearest to it; "" for those in their order.
    start : int
        Show the text from a place on.
    clock : Clock or None
        None for the machine's.

    Raises
    ------
    UsageError
        The place cannot be read and no text was given, or the number is unknown.
    RunNotFoundError, RunEndedError
        The store has no such run, or it is over.
    """
    now = (clock or SystemClock()).now()
    state = load_run(store, run_id)[0].state
    head = agent_knowledge(state).head  # of another run nothing is stored
    if place.isdecimal():
        return _shown(_stored(store, state, int(place)), "", query, start)
    require_going(state)
    if place.startswith(_WEB):
        answer = pages.read(place, SearchLimits())
        found = answer.sources[0] if isinstance(answer, Found) else None
        note = "nothing to read there" if isinstance(answer, Empty) else getattr(answer, "reason", "")
    else:
        found, note = _file(place, head, root=root.resolve(), now=now)
    if found is None and (text is None or not text.strip()):
        raise UsageError(
            f"{place}: {note}; nothing was stored. If your own tools can read it, give their text by --text"
        )
    source = found or _source(place, "web" if place.startswith(_WEB) else "text", clean_text(text or ""), now)
    return _shown(_keep(store, run_id, source, now), note, query, start)


def _file(place: str, head: str, *, root: Path, now: datetime) -> tuple[Source | None, str]:
    """Return a file of the project as a source, and why it is none, or no more than the agent's word."""
    path = (root / place).resolve()
    if not path.is_relative_to(root):
        return None, "leads out of the project"
    if not path.is_file():
        return None, "no such file"
    data, document = read_file(path), read_document(path, path.name)
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
    with suppress(GitError), Repository(path.parent) as repository:
        name = path.relative_to(repository.root.resolve()).as_posix()
        return bool(head) and repository.read(head, name) == data
    return False


def _source(location: str, kind: str, text: str, now: datetime) -> Source:
    """Return a text that the agent brought."""
    return Source(
        title=location,
        location=location,
        type=kind,
        text=text[:MAX_CHARS],
        retrieved_at=now,
        start=0,
        provider="agent",
    )


def _keep(store: Store, run_id: str, source: Source, now: datetime) -> ReadSource:
    """Number a source; one with the same place and text has its number already."""
    kept: list[ReadSource] = []

    def recorded(state: State) -> list[happened.Event]:
        require_going(state)
        earlier = stored_sources(store, state)
        same = [read for read in earlier if _identity(read.source) == _identity(source)]
        number = len(earlier) + 1
        new = ReadSource(number, source, origin_of(source, earlier), "", state.iteration + 1)
        kept.append(same[0] if same else new)
        excerpt = replace(new, source=replace(source, text=source.text[:_EXCERPT_CHARS]))
        events = (
            happened.SourceRead(at=now, source=source.location),
            happened.Noted(at=now, name=READ, data=msgspec.to_builtins(excerpt)),
            happened.Noted(at=now, name=TEXT, data={"number": number, "text": source.text}),
        )
        return [] if same else [happened.Recorded(at=now, events=events)]

    change_run(store, run_id, recorded)
    return kept[-1]


def _identity(source: Source) -> tuple[str, str, str]:
    return source.location, source.text, source.provider


def stored_sources(store: Store, state: State) -> list[ReadSource]:
    """Return the sources of a run with their whole texts."""
    recorded = (event for _, event in store.read(state.run_id) if isinstance(event, happened.Recorded))
    notes = (part for event in recorded for part in event.events if isinstance(part, happened.Noted))
    texts = {note.data["number"]: str(note.data["text"]) for note in notes if note.name == TEXT}
    return [
        replace(read, source=replace(read.source, text=texts.get(read.number, read.source.text)))
        for read in knowledge_of(state).sources
    ]


def _stored(store: Store, state: State, number: int) -> ReadSource:
    sources = stored_sources(store, state)
    if not 0 < number <= len(sources):
        there_are = f"the run has 1 to {len(sources)}" if sources else "the run has none; read one first"
        raise UsageError(f"no source {number}; {there_are}")
    return sources[number - 1]


def _shown(read: ReadSource, note: str, query: str, start: int) -> Shown:
    parts = [part for part in passages_of(read.source.text) if part.end > start]
    if query:
        asked = term_set(query)
        nearest = _first(sorted(parts, key=lambda part: -len(asked & term_set(part.text))))
        passages = tuple(sorted(nearest, key=lambda part: part.start))
        return Shown(read=read, note=note, passages=passages, following=None)
    passages = tuple(_first(parts))
    following = passages[-1].end if len(passages) < len(parts) else None
    return Shown(read=read, note=note, passages=passages, following=following)


def _first(parts: Sequence[Passage]) -> list[Passage]:
    """As many as are shown at once."""
    shown: list[Passage] = []
    for part in parts:
        if sum(len(one.text) for one in shown) < SHOWN_CHARS:
            shown.append(part)
    return shown
