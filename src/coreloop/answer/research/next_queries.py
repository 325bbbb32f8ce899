"""Which queries come next: of a plan, of a reflection, of another angle, and in other words.

Also planning and reflecting without a model: by a question's parts and words, and sentences of sources.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Final

from coreloop.answer.models import contracts
from coreloop.answer.models.ladder import OFFLINE
from coreloop.answer.research.research_state import AT_ONCE, COUNTER_EVIDENCE, Knowledge, PlanQuery
from coreloop.answer.text.claims import UNIT, names
from coreloop.answer.text.rank import asked_kind, is_name, rank
from coreloop.answer.text.terms import search_words
from coreloop.base.language.similarity import DUPLICATE_AT, similarity, word_similarity
from coreloop.base.language.words import is_hangul, read_query, shorten_query
from coreloop.runs.state import State

MAX_PARTS: Final = 10  # sub-questions of a plan
MAX_PROPOSED: Final = 20  # queries of a plan or a reflection, words of a question that another follows
MAX_CONVERGED: Final = 5  # candidates of an exhaustive run that are kept for the next iteration
STUCK_AFTER: Final = 3  # searches in a row that found nothing
FEW: Final = 3  # results; a query with fewer is reworded
# A strategy's label, and words that turn a query that way, in English and Korean.
_ROWS: Final = Path(__file__).with_name("angles.tsv").read_text("utf-8").splitlines()[1:]
_ANGLES: Final = {label: words for label, *words in (row.split("\t") for row in _ROWS)}
# Candidates of an exhaustive run: an intent, and the labels of its queries.
_DIVERGED: Final = {
    "web": ("web", "recent", "broad", "niche"),
    "academic or technical": ("academic", "technical", "academic", "technical"),
    COUNTER_EVIDENCE: (COUNTER_EVIDENCE,) * 4,
}
_PAIRS: Final = Path(__file__).with_name("synonyms.tsv").read_text("utf-8").splitlines()
_OTHER: Final = {row.split("\t")[at]: row.split("\t")[1 - at] for row in _PAIRS for at in (0, 1)}


def plan_parts(question: str, plan: contracts.PlanResponse) -> tuple[str, ...]:
    """Return the sub-questions of a plan; the question itself if it has none."""
    parts = (shorten_query(part) for part in plan.sub_questions[:MAX_PARTS])
    return tuple(dict.fromkeys(filter(None, parts))) or (question,)


def new_queries(proposed: Sequence[contracts.PlannedQuery], *, iteration: int) -> list[PlanQuery]:
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
    """Keep three to five candidates: those with the most new words, unlike each other.

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
    """Information gain and diversity: words that no other query has, and the nearest query."""
    words = read_query(query)
    known = frozenset().union(*(read_query(other).words for other in others))
    gain = len(words.words - known) / max(1, len(words.words))
    nearest = max((word_similarity(words, read_query(other)) for other in others), default=0.0)
    return gain - nearest


def _is_redundant(query: str, others: Sequence[str]) -> bool:
    words = read_query(query)
    return any(similarity(words, read_query(other)) >= DUPLICATE_AT for other in others)


MAX_LEADS: Final = 3  # passages that are followed, and names of each
MAX_QUOTES: Final = 2  # for each part of a question


def plan_offline(material: contracts.Material) -> contracts.PlanResponse:
    """Plan to search for each part of a question, and for all of it."""
    parts = question_parts(material.question)
    queries = dict.fromkeys(" ".join(search_words(text)) for text in (*parts, material.question))
    return contracts.PlanResponse(
        queries=tuple(contracts.PlannedQuery(query=query, intent="answer") for query in queries if query),
        sub_questions=parts,
        complexity_tier=("simple", "standard", "deep")[min(len(parts), 3) - 1],
    )


def reflect_offline(
    material: contracts.Material, may_mark: Callable[[str], bool] = lambda _: True
) -> contracts.ReflectionResponse:
    """Report the marked sentences of the best passages as findings, and search for the parts without one."""
    findings = list[contracts.ReportedFinding]()
    gaps = list[str]()
    for part in material.sub_questions or question_parts(material.question):
        said = list(_quotes(part, material, may_mark))
        findings += said
        gaps += [] if any(finding.answers for finding in said) else [part]
    return contracts.ReflectionResponse(
        sufficient=bool(findings) and not gaps,
        confidence=0.0,
        gaps=tuple(gaps),
        new_queries=tuple(_new_queries(gaps, material)),
        metadata=contracts.ReplyMetadata(timestamp=datetime.now(UTC), model=OFFLINE, token_count=0),
        findings=tuple(findings),
    )


def _quotes(
    part: str, material: contracts.Material, may_mark: Callable[[str], bool]
) -> Iterator[contracts.ReportedFinding]:
    """Yield what the best passages say to a part of the question."""
    for hit in rank(part, material.sources, may_mark=may_mark)[:MAX_QUOTES]:
        if hit.is_near:
            source, answers = material.sources[hit.number - 1], (part,) if hit.says_so else ()
            said, sources = source.text[hit.start : hit.end], (f"[{source.number}]",)
            yield contracts.ReportedFinding(text=said, sources=sources, answers=answers)


_LINK: Final = re.compile(
    r"\[(?P<text>[^\]\n]{2,80})\]\((?!\w+://)(?P<file>[^)\s]{1,200})\)"
    r"|(?<![\w`])`(?P<title>[^`<\n]{2,80}?)\s*<(?P<target>[^>\s]{1,200})>`"
)  # [Refunds](refund-rules.md#days), :doc:`Refunds <refund-rules>`


def _new_queries(gaps: Sequence[str], material: contracts.Material) -> Iterator[contracts.PlannedQuery]:
    """Yield, for each gap, two queries that were not executed: its words, synonyms, what passages lead to."""
    for gap in gaps:
        leads = (gap, " ".join(with_synonyms(search_words(gap))), *_leads(gap, material))
        queries = dict.fromkeys(" ".join(search_words(lead)) for lead in leads)
        new = (query for query in queries if query and query not in material.searched)
        yield from (contracts.PlannedQuery(query=query, intent="gap") for query in islice(new, 2))


def _leads(gap: str, material: contracts.Material) -> Iterator[str]:
    """Yield where the nearest passages lead: their links, headings and names, with the words of the gap."""
    for hit in [hit for hit in rank(gap, material.sources) if hit.end][:MAX_LEADS]:
        source = material.sources[hit.number - 1]
        links = (filter(None, link.groups()) for link in _LINK.finditer(source.text))
        yield from (" ".join(parts).replace("-", " ").replace("/", " ") for parts in links)
        yield from (f"{name} {gap}" for name in (source.title, *sorted(names(source.text)))[:MAX_LEADS])


MAX_SPLIT: Final = 5
_PART: Final = re.compile(
    r"""(?<=[?？])\s+
      | (?:,|(?<![\s,]))\s++  # white space from its beginning: from each space of a run costs its square
        (?: 그리고\s+ | and\s+(?=(?:how|what|when|where|which|who|why)\b) )""",
    re.IGNORECASE | re.VERBOSE,
)  # "What is it, and why?" -> "What is it", "why?"


_AND: Final = re.compile(r"(?<=[가-힣][고며]),?\s+")  # 매출은 얼마이고 대표는 누구인가?
_ASKING: Final = re.compile(r"누구|누가|무엇|어디|언제|얼마|몇|며칠|왜|어떻")


def question_parts(question: str) -> tuple[str, ...]:
    """Split a question into the questions that it consists of, at most `MAX_SPLIT`."""
    halves = ((part, _AND.split(part, 1)) for part in _PART.split(question))
    whole = (split if all(map(_ASKING.search, split)) else [part] for part, split in halves)
    parts = [part.strip() for split in whole for part in split]
    return tuple(dict.fromkeys(part for part in parts if part))[:MAX_SPLIT]


_FEW_WORDS: Final = 2  # of a question that may lack its subject
_NUMBER: Final = re.compile(r"[\d.,]+")
_AROUND: Final = re.compile(
    r"(?i)\A(?:and|but|then|what about|how about|그럼|그러면|그렇다면|그리고|그런데)\s"
    r"|(?:[은는]요?|도요|(?:[은는도]\s)?어[때땠떤떻]\S{0,9}(?:\s되\S{1,9})?|\bones?)\s*[?？]*\Z"
)  # And the blue one?, 그럼 해외는 어때요?
_REFERS: Final = re.compile(
    r"(?i)\b(?:its?|they|their|them|there|he|his|she|her)\b"
    r"|\b(?:this|that|these|those)\s\w+(?=(?:\s(?:do|mean|have))?\s*\?)"
    r"|(?<![가-힣])(?:그것?|거기|그곳)(?:[은는이가의]|에서?)?\s"
)  # what makes a question one about the question before


def readings(question: str, before: str) -> list[str]:
    """Return what a question may mean after another, the likeliest first.

    A whole question is asked of what the one before is about. One that names no more than a noun or a number
    is the one before, with it in place of a number of its unit, a name, what ends alike, or the last word.
    """
    bare = _AROUND.sub("", question)
    new = search_words(UNIT.sub("", _REFERS.sub(" ", bare)))
    units = {_NUMBER.sub("", word): word for word in search_words(before) if word[0].isdecimal()}
    for word in new:
        before = before.replace(units.get(_NUMBER.sub("", word), word), word, 1)
    asked = search_words(UNIT.sub("", before))[:MAX_PROPOSED]
    exchanged = _exchanged(before, asked, new)
    if not (asked_kind(question) or _REFERS.search(question)):
        return exchanged or [question]
    subjects = (*(" ".join(asked[:size]) for size in range(len(asked), 0, -1)), *filter(is_name, asked))
    asking = bare if _REFERS.search(bare) else f"it {bare}"
    return [*(_REFERS.sub(f" {subject} ", asking) for subject in subjects), *exchanged] or [question]


def _exchanged(before: str, asked: Sequence[str], new: Sequence[str]) -> list[str]:
    """Return a question with the words that are new to it in place of as many of its own."""
    other = [word for word in new if word not in before]
    if not other:
        return [before]

    def likeness(end: int) -> tuple[bool, bool, int]:
        word = asked[end]
        return is_name(word) != is_name(other[-1]), word[-1] != other[-1][-1], -end

    ends = (end for end in range(len(other) - 1, len(asked)) if not asked[end][0].isdecimal())
    olds = (asked[end + 1 - len(other) : end + 1] for end in sorted(ends, key=likeness))
    found = (re.search(r"\S*\s+".join(map(re.escape, old)), before) for old in olds if not {*old} & {*new})
    return [f"{before[: at.start()]}{' '.join(other)}{before[at.end() :]}" for at in found if at]


def complete(question: str, before: str, said: Callable[[str], float]) -> str:
    """Complete a question that refers to the one before it: to what is said best, else to the likeliest.

    One with two nouns of its own may be whole; it stays as it is if no reading is said.
    """
    words, refers = search_words(_AROUND.sub("", question)), _REFERS.search(question)
    if not before or not (len(words) <= _FEW_WORDS or refers or _AROUND.match(question)):
        return question
    scores = {" ".join(reading.split()): said(reading) for reading in readings(question, before)}
    best = max(scores, key=lambda reading: scores[reading])
    has_own = sum(not word[0].isdecimal() for word in words) >= _FEW_WORDS and not refers
    return question if has_own and not scores[best] else best
