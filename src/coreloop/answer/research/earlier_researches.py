"""Earlier researches of a project: listed, named and read, and those that are like a question."""

from dataclasses import dataclass
from typing import Final, Literal

from coreloop.answer.research.next_queries import question_parts
from coreloop.answer.research.research_state import KIND
from coreloop.base.errors import RunNotFoundError
from coreloop.base.language.similarity import word_similarity
from coreloop.base.language.words import read_query
from coreloop.runs.duplicates import QueryHistory, Search
from coreloop.runs.load import load_run
from coreloop.runs.state import TERMINAL, State
from coreloop.runs.stores.accounts import RunRow
from coreloop.runs.stores.store import Store

MAX_LIKE: Final = 3
_LATEST: Final = 1_000  # chosen: older ones are not looked for, so that a question takes as long in any store
_SIMILAR_FROM: Final = 0.4  # chosen on ParaKQC: 94.8 % of its paraphrases, 3.1 % of other pairs


@dataclass(frozen=True, slots=True)
class Like:
    """An earlier run, how like its question is, and the share of words that both have, 0–1."""

    likeness: Literal["exact", "similar"]
    row: RunRow
    score: float


def like_sessions(question: str, store: Store, *, kind: str = KIND) -> tuple[Like, ...]:
    """Return the unfinished runs of a kind whose words are like a question's, at most `MAX_LIKE`.

    One that asks the same comes first and is ``exact``: it asks for nothing beside it.
    """
    asked, n_parts = QueryHistory([Search(question, 1, 1, success=True)]), len(question_parts(question))
    words, likes = read_query(question), list[Like]()
    for row in store.runs(kind=kind, limit=_LATEST):
        is_alike, _ = asked.is_duplicate_query(row.question)
        is_same = is_alike and len(question_parts(row.question)) == n_parts
        score = 1.0 if is_same else word_similarity(words, read_query(row.question))
        if row.status not in TERMINAL and score >= _SIMILAR_FROM:
            likes.append(Like("exact" if is_same else "similar", row, score))
    return tuple(sorted(likes, key=lambda like: -like.score)[:MAX_LIKE])


def named_session(store: Store, name: str) -> str:
    """Return the id of a research: the given one, or the newest for ``last``.

    Raises
    ------
    RunNotFoundError
        There is no research.
    """
    if name != "last":
        return name
    rows = store.runs(kind=KIND, limit=1)
    if not rows:
        raise RunNotFoundError("the project has no research yet; ask a question first")
    return rows[0].run_id


def read_session(store: Store, run_id: str) -> State:
    """Read the state of a research.

    Raises
    ------
    RunNotFoundError
        There is no such research.
    """
    state = load_run(store, run_id)[0].state
    if state.kind != KIND:
        raise RunNotFoundError(f"run {run_id} is no research, but {state.kind}; see runs show")
    return state
