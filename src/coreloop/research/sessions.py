"""Earlier researches of a project: which of them asked the same, and which one to continue."""

import re
from collections.abc import Sequence
from typing import Final, Literal

from coreloop.errors import RunNotFoundError, UsageError
from coreloop.research.knowledge import KIND
from coreloop.runs.load import load_run
from coreloop.runs.queries.similarity import DUPLICATE_AT, similarity, word_similarity
from coreloop.runs.queries.words import read_query
from coreloop.runs.state import State
from coreloop.runs.stores.accounts import RunRow
from coreloop.runs.stores.store import Store

_NUMBER: Final = re.compile(r"\d+")
MAX_LIKE: Final = 3
_SIMILAR_FROM: Final = 0.4
_LATEST: Final = 1_000

Likeness = Literal["exact", "similar"]


def like_sessions(question: str, rows: Sequence[RunRow]) -> list[tuple[Likeness, RunRow]]:
    """Return the researches whose question is like another, the likest first, at most `MAX_LIKE`."""
    words = read_query(question)
    scored = []
    for row in rows:
        other = read_query(row.question)
        has_same_numbers = _NUMBER.findall(question) == _NUMBER.findall(row.question)
        is_exact = has_same_numbers and similarity(words, other) >= DUPLICATE_AT
        score = 1.0 if is_exact else word_similarity(words, other)
        if score >= _SIMILAR_FROM:
            likeness: Likeness = "exact" if is_exact else "similar"
            scored.append((score, likeness, row))
    scored.sort(key=lambda entry: -entry[0])
    return [(likeness, row) for _, likeness, row in scored[:MAX_LIKE]]


def sessions_of(store: Store, *, limit: int = _LATEST) -> list[RunRow]:
    """Return a project's researches, the newest first."""
    return store.runs(kind=KIND, limit=limit)


def named_session(store: Store, name: str | None) -> str:
    """Return the id of a research: the given one, or the newest for None and ``last``.

    Raises
    ------
    RunNotFoundError
        There is no research.
    UsageError
        The name is empty.
    """
    if name is not None and not name.strip():
        raise UsageError("--session is empty; give new, last or the id of a research")
    if name not in {None, "last"}:
        return str(name)
    rows = sessions_of(store, limit=1)
    if not rows:
        raise RunNotFoundError("the project has no research yet; ask a question first")
    return rows[0].run_id


def read_session(store: Store, name: str | None) -> State:
    """Read the state of a research, or of the newest.

    Raises
    ------
    RunNotFoundError
        There is no such research.
    """
    run_id = named_session(store, name)
    folding, _ = load_run(store, run_id)
    if folding.state.kind != KIND:
        raise RunNotFoundError(f"run {run_id} is no research, but {folding.state.kind}; see runs show")
    return folding.state
