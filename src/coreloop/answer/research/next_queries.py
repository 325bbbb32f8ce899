"""Which queries come next: the first ones, those of reflection, of another angle, and in other words."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from coreloop.answer.models.contracts import PlannedQuery, PlanResponse, Tier
from coreloop.answer.research.research_state import AT_ONCE, COUNTER_EVIDENCE, Knowledge, PlanQuery
from coreloop.answer.text.terms import search_words
from coreloop.base.language.similarity import DUPLICATE_AT, similarity, word_similarity
from coreloop.base.language.words import is_hangul, read_query, shorten_query
from coreloop.runs.state import State

MAX_FIRST: Final[dict[Tier, int]] = {"simple": 3, "standard": 6, "deep": 6}  # queries of the plan
MAX_PARTS: Final = 10  # sub-questions of a plan
MAX_PROPOSED: Final = 20  # queries of a reflection
MAX_CONVERGED: Final = 5  # candidates of an exhaustive run that are kept for the next iteration
STUCK_AFTER: Final = 3  # searches in a row that found nothing
FEW: Final = 3  # results; a query with fewer is reworded
_LONG_QUERY: Final = 12  # words; longer queries find little
# A strategy's label, and words that turn a query that way, in English and Korean.
_ANGLES: Final = {
    "web": ("overview", "개요"),
    "academic": ("study research", "연구 논문"),
    "technical": ("mechanism implementation", "원리 구현"),
    COUNTER_EVIDENCE: ("criticism problem limit exception", "반론 문제 한계 예외"),
    "historical": ("history origin", "역사 유래"),
    "recent": ("latest", "최근"),
    "niche": ("example case", "사례 예시"),
    "broad": ("introduction", "소개"),
    "first principles": ("definition", "정의"),
}
# Candidates of an exhaustive run: an intent, and the labels of its queries.
_DIVERGED: Final = {
    "web": ("web", "recent", "broad", "niche"),
    "academic or technical": ("academic", "technical", "academic", "technical"),
    COUNTER_EVIDENCE: (COUNTER_EVIDENCE,) * 4,
}
_SYNONYMS: Final = (
    ("effect", "impact"), ("cause", "reason"), ("cost", "price"), ("increase", "growth"),
    ("decrease", "decline"), ("error", "failure"), ("remove", "delete"), ("create", "add"),
    ("영향", "효과"), ("원인", "이유"), ("가격", "비용"), ("증가", "상승"), ("감소", "하락"),
    ("오류", "실패"), ("삭제", "제거"), ("생성", "추가"), ("시작", "개시"),
)  # fmt: skip
_OTHER: Final = {word: other for pair in _SYNONYMS for word, other in (pair, pair[::-1])}
START_STRATEGY: Final = ("positive", "broad")


def plan_parts(question: str, plan: PlanResponse) -> tuple[str, ...]:
    """Return the sub-questions of a plan; the question itself if it has none."""
    parts = (shorten_query(part) for part in plan.sub_questions[:MAX_PARTS])
    return tuple(dict.fromkeys(filter(None, parts))) or (question,)


def first_queries(question: str, plan: PlanResponse, tier: Tier) -> list[PlanQuery]:
    """Return the queries of a plan; the question itself if it has none."""
    planned = plan.queries or (PlannedQuery(query=question, intent="answer"),)
    return new_queries(planned, iteration=1)[: MAX_FIRST[tier]]


def new_queries(proposed: Sequence[PlannedQuery], *, iteration: int) -> list[PlanQuery]:
    """Return what a model proposes for an iteration, without repeats."""
    return _distinct(
        PlanQuery(shorten_query(query.query), query.intent[:200], iteration)
        for query in proposed[:MAX_PROPOSED]
    )


def next_queries(state: State, knowledge: Knowledge) -> list[PlanQuery]:
    """Return the queries of the next iteration, at most `AT_ONCE` and what the limit leaves."""
    number = state.iteration + 1
    return [query for query in knowledge.plan_queries if query.iteration == number][: queries_left(state)]


def queries_left(state: State) -> int:
    """Return how many more queries may be executed at once."""
    limit = state.limits.queries
    return AT_ONCE if limit is None else max(0, min(AT_ONCE, limit - state.queries))


def angled(text: str, labels: Iterable[str], searched: Sequence[str] = ()) -> str:
    """Turn the words of a text towards a strategy: by the first word of its labels that was not tried yet."""
    query = " ".join(search_words(text)) or text
    korean = any(map(is_hangul, query))
    words = [word for label in labels for word in _ANGLES.get(label, ("", ""))[korean].split()]
    turned = (f"{query} {word}" for word in words if word not in query)
    return next((candidate for candidate in turned if candidate not in searched), query)


def diverge(seeds: Sequence[str], searched: Sequence[str], *, iteration: int) -> list[PlanQuery]:
    """Return twelve candidates: four each from the web, academic or technical, and for counter-evidence.

    Parameters
    ----------
    seeds : sequence of str
        Queries or questions, which take turns; at least one.
    searched : sequence of str
        Queries that were executed.
    iteration : int
        In which the candidates are to be executed.
    """
    tried, candidates = list(searched), list[PlanQuery]()
    for intent, labels in _DIVERGED.items():
        for place, label in enumerate(labels):
            query = angled(seeds[place % len(seeds)], (label,), tried)
            tried.append(query)
            candidates.append(PlanQuery(query, intent, iteration))
    return _distinct(candidates)


def converge(candidates: Sequence[PlanQuery], searched: Sequence[str]) -> list[PlanQuery]:
    """Keep three to five candidates: those with the most new words, unlike each other, short enough to find.

    At least one searches for counter-evidence, if a candidate does.
    """
    left = list(candidates)
    kept: list[PlanQuery] = []
    while left and len(kept) < MAX_CONVERGED:
        others = [*searched, *(query.query for query in kept)]
        best = max(left, key=lambda query: _worth(query.query, others))
        left.remove(best)
        if not _is_redundant(best.query, others):
            kept.append(best)
    if not any(query.intent == COUNTER_EVIDENCE for query in kept):
        contrary = (query for query in candidates if query.intent == COUNTER_EVIDENCE)
        own = next((query for query in contrary if not _is_redundant(query.query, searched)), None)
        kept = [*kept[: MAX_CONVERGED - 1], own] if own else kept
    return kept


def is_stuck(state: State, knowledge: Knowledge) -> bool:
    """Whether the last three searches that worked found nothing."""
    failed = {query.query for query in knowledge.failed_queries}
    last = [search for search in state.search_history if search.query not in failed][-STUCK_AFTER:]
    return len(last) == STUCK_AFTER and not any(search.results_count for search in last)


def reword(query: str) -> Iterator[tuple[str, str]]:
    """Yield other forms of a query and how they were made: ``synonyms``, ``broader``, ``other angle``."""
    words = query.split()
    others = with_synonyms(words)
    if others != words:
        yield " ".join(others), "synonyms"
    kept = [word for word in words if read_query(word).words]
    if len(kept) > 1:
        yield " ".join(kept[: (len(kept) + 1) // 2]), "broader"
    yield angled(query, ("first principles",)), "other angle"


def with_synonyms(words: Iterable[str]) -> list[str]:
    """Replace each word by its synonym, if it has one."""
    return [_OTHER.get(word.casefold(), word) for word in words]


def _distinct(queries: Iterable[PlanQuery]) -> list[PlanQuery]:
    kept: dict[str, PlanQuery] = {}
    for query in queries:
        if query.query:
            kept.setdefault(query.query.casefold(), query)
    return list(kept.values())


def _worth(query: str, others: Sequence[str]) -> float:
    """Information gain and diversity less length: words that no other query has, and the nearest query."""
    words = read_query(query)
    known = frozenset().union(*(read_query(other).words for other in others))
    gain = len(words.words - known) / max(1, len(words.words))
    nearest = max((word_similarity(words, read_query(other)) for other in others), default=0.0)
    return gain - nearest - (0.5 if len(query.split()) > _LONG_QUERY else 0.0)


def _is_redundant(query: str, others: Sequence[str]) -> bool:
    words = read_query(query)
    return any(similarity(words, read_query(other)) >= DUPLICATE_AT for other in others)
