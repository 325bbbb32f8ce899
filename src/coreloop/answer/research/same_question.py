"""Which unfinished researches ask what a new question asks: words find them, and a model judges in doubt."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from coreloop.answer.deps import Deps
from coreloop.answer.models.contracts import LikenessResponse
from coreloop.answer.models.offline import NAME as OFFLINE
from coreloop.answer.models.prompt import Material
from coreloop.answer.models.question_parts import question_parts
from coreloop.answer.research.asking import ask
from coreloop.answer.research.earlier_researches import sessions_of
from coreloop.answer.text.claims import is_denied
from coreloop.base.errors import BudgetError, ModelError
from coreloop.base.language.similarity import DUPLICATE_AT, similarity, word_similarity
from coreloop.base.language.words import read_query
from coreloop.runs.active_run import work_on
from coreloop.runs.state import TERMINAL
from coreloop.runs.stores.accounts import RunRow

MAX_LIKE: Final = 3
_NUMBER: Final = re.compile(r"\d+")
_SIMILAR_FROM: Final = 0.4  # chosen on ParaKQC, with the next
_DOUBTFUL_FROM: Final = 0.2
"""For a model to judge: 99.7 % of ParaKQC's paraphrases, 9.1 % of other pairs (at 0.4, 94.8 and 3.1 %)."""

Likeness = Literal["exact", "similar"]


@dataclass(frozen=True, slots=True)
class Like:
    """An earlier run, how like its question is, and the share of words that both have, 0–1."""

    likeness: Likeness
    row: RunRow
    score: float


@dataclass(frozen=True, slots=True)
class LikeSessions:
    """Researches that are like a question.

    Attributes
    ----------
    sessions : tuple of Like
        The likest first, at most `MAX_LIKE`.
    begun : str or None
        The new research, if it was begun to ask a model in it: go on with it, or stop it.
    """

    sessions: tuple[Like, ...]
    begun: str | None = None


def find_like(question: str, deps: Deps, begin: Callable[[], str]) -> LikeSessions:
    """Find the unfinished researches that are like a question.

    A model is asked only if words find some and none that is the same. The question to it is a step of the
    new research, so that it is counted there.

    Parameters
    ----------
    question : str
        The new one.
    deps : Deps
        Without a model that can judge, or if it gives no usable reply, words alone decide.
    begin : callable
        Begins the new research; returns its id.
    """
    going = [row for row in sessions_of(deps.store) if row.status not in TERMINAL]
    by_words = like_sessions(question, going)
    doubtful = like_sessions(question, going, least=_DOUBTFUL_FROM)
    is_sure = any(like.likeness == "exact" for like in doubtful)
    if deps.ladder.name == OFFLINE or is_sure or not doubtful:
        return LikeSessions(by_words)
    begun = begin()
    try:
        return LikeSessions(_judged(doubtful, begun, deps), begun)
    except (ModelError, BudgetError):
        return LikeSessions(by_words, begun)


def like_sessions(question: str, rows: Sequence[RunRow], *, least: float = _SIMILAR_FROM) -> tuple[Like, ...]:
    """Return the researches whose words are like a question's, the likest first, at most `MAX_LIKE`."""
    words = read_query(question)
    scored = []
    for row in rows:
        other = read_query(row.question)
        has_same_numbers = _NUMBER.findall(question) == _NUMBER.findall(row.question)
        is_like = has_same_numbers and similarity(words, other) >= DUPLICATE_AT
        is_exact = is_like and not _asks_otherwise(question, row.question)
        score = 1.0 if is_exact else word_similarity(words, other)
        if score >= least:
            likeness: Likeness = "exact" if is_exact else "similar"
            scored.append(Like(likeness, row, score))
    return tuple(sorted(scored, key=lambda like: -like.score)[:MAX_LIKE])


def _asks_otherwise(one: str, other: str) -> bool:
    """Whether one denies what the other asks, or asks for something beside it."""
    return is_denied(one) != is_denied(other) or len(question_parts(one)) != len(question_parts(other))


def _judged(likes: Sequence[Like], run_id: str, deps: Deps) -> tuple[Like, ...]:
    """Let a model say which are like; the run is held no longer, since waiting for a person is no work."""
    notes = tuple(f"research {number}: {like.row.question}" for number, like in enumerate(likes, 1))
    with work_on(deps.store, run_id) as run:
        material = Material(question=run.state.question, notes=notes)
        reply = ask(run, deps.ladder, "likeness", material, LikenessResponse, key="likeness")
    numbered = list(enumerate(likes, 1))
    exact = [replace(like, likeness="exact") for number, like in numbered if number in reply.exact]
    similar = {*reply.similar} - {*reply.exact}
    return (*exact, *(replace(like, likeness="similar") for number, like in numbered if number in similar))
