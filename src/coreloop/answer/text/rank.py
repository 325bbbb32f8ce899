"""Which passages answer a question: BM25, the question's rare words, one sentence marked, or nothing said so.

`benchmarks/ask.py` measures it; four numbers of the verdict were fitted on other questions of KorQuAD and on
half of XQuAD.
"""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Literal

from coreloop.answer.search.source import Source
from coreloop.answer.text.claims import numbers
from coreloop.answer.text.sentences import gives_orders, split
from coreloop.answer.text.terms import is_korean, optional, terms, words_of

if TYPE_CHECKING:
    from coreloop.answer.models.contracts import NumberedSource

Verdict = Literal["says so", "may say so", "nothing said so"]
Kind = Literal["default", "date", "number", "name"]
# Tests and lists of changes, whose words say less than a document's.
_LOW: Final = re.compile(
    r"(?:^|/)(?:tests?|testing|examples?|benchmarks?|history)/"
    r"|(?:^|/)(?:test_|conftest|change|news|history|whats|release|licen|copying|authors|thanks|contribut)[^/]*$",
    re.IGNORECASE,
)
_PRIORS: Final = {"python": 0.75, "code": 0.75, "data": 0.85, "symbol": 0.9, "schema": 0.9}
_OF_LINES: Final = frozenset({"python", "code", "data"})  # types whose lines are what sentences are elsewhere
_ASKS: Final[Mapping[Kind, re.Pattern[str]]] = {
    "default": re.compile(r"\bdefault\b|기본값", re.IGNORECASE),
    "date": re.compile(
        r"\bwhen\b|\b(?:what|which) (?:year|date|day|month|time|century|decade)\b"
        r"|언제|몇 ?(?:년|월|일|시)|날짜|[연년]도",
        re.IGNORECASE,
    ),
    "number": re.compile(
        r"\bhow (?:many|much|long|old|far|large|big|tall|high|deep|often|fast|heavy)\b"
        r"|\bwhat (?:percent\w*|number|amount|size|port|price|cost)\b|얼마|몇|며칠|비율|길이|금액"
        r"|\bwhat (?:is|are|was|were) the (?:\w+ ){0,2}?(?:limit|price|number|rate|size|length|fee)\b",
        re.IGNORECASE,
    ),
    "name": re.compile(
        r"\bwho(?:m|se)?\b|누구|누가|\bwhat (?:person|player|actor|author|company)\b", re.IGNORECASE
    ),
}
# What the sentence has that answers a question for a default, a time, a number or someone.
_SAYS: Final[Mapping[Kind, re.Pattern[str]]] = {
    "default": re.compile(r"\bdefaults?\b|기본", re.IGNORECASE),
    "date": re.compile(
        r"\b[12]\d{3}s?\b|(?<!\d)\d{1,4}\s?(?:년|월|일|시|세기)|매[일주달년]|[월화수목금토일]요일"
        r"|\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\b|\b\d{1,2}(?:st|nd|rd|th) century"
        r"|days?\b|nights?\b|\b(?:after|before|until|once|while)\b",
        re.IGNORECASE,
    ),
    "number": re.compile(
        r"\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|hundred"
        r"|thousand|million|billion|half|once|twice|dozen|third|quarter)\b"
        r"|[한두세네]\s(?:명|개|번|달|가지)|하루|이틀|사흘|반|매[일주달년]|\b(?:every|each|daily|weekly)\b",
        re.IGNORECASE,
    ),
    "name": re.compile(r"(?<=\s)[A-Z][a-z]+|[가-힣]{2,4}(?=[은는이가의]|에게)|\b\w+(?:ors|ers|ists)\b"),
}
# Questions that a sentence with their words rarely answers alone: ``may say so`` at most.
_NO_FACT: Final = re.compile(
    r"\b(?:why|how (?!many|much|long|old|far|large|big|tall|high|deep|often|fast|heavy)|mean)|왜|어떻|방법",
    re.IGNORECASE,
)
_AUXILIARY: Final = re.compile(
    r"(?:is|are|was|were|am|do|does|did|can|could|will|would|should|shall|may|might|must|has|have|had)\b",
    re.IGNORECASE,
)
_KOREAN_YES_NO: Final = re.compile(r"(?:나요|가요|까요?|니까|[는은]지|[나냐니까]|어|아|죠|지)\s?[?？]?\Z")
_INTERROGATIVE: Final = re.compile(
    r"(?<![가-힣])(?:누구|누가|무엇|무슨|뭐|뭘|어디|언제|왜|어떤|어떻|어느|얼마|몇|며칠)"
)
_SAYS_AT, _MAY = 1.43, 0.48  # fitted with the weights of `Hit.value` and of the margin
_LEAST_NEAR: Final = 0.6  # chosen: among few passages, the distance to the next says little
_K1, _B = 1.2, 0.75  # of BM25, as SQLite has them
_NO_SENTENCES: Final = ("def ", "async def ", "class ", "@", "$ ", ">>> ", "![")
_OF_HEADING: Final = 2  # what a word of the heading counts in BM25


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage and its sentence that says most to a question.

    Attributes
    ----------
    number : int
        Of its source, from 1.
    start, end : int
        Of the sentence; equal if none may be marked.
    score : float
        By which passages are ordered.
    near : float
        Share of the question's words that the sentence, the one before or the heading has, 0–1.
    value : float
        Whether it says what is asked, without a look at other passages.
    is_fact : bool
        Whether the sentence has what is asked for, and is of no program, test or list of changes.
    """

    number: int
    start: int
    end: int
    score: float
    near: float
    value: float
    is_fact: bool

    @property
    def is_near(self) -> bool:
        """Whether its sentence may say so, whatever other passages say."""
        return self.end > self.start and self.value > _MAY


@dataclass(frozen=True, slots=True)
class _Read:
    """A source: words of its heading and of each sentence, with its place; ``last`` of its own heading."""

    heading: frozenset[str]
    last: frozenset[str]
    sentences: tuple[tuple[int, int, frozenset[str]], ...]
    counts: Counter[str]

    @property
    def words(self) -> frozenset[str]:
        return self.heading.union(*(words for *_, words in self.sentences))


def rank(
    question: str,
    sources: "Sequence[Source | NumberedSource]",
    *,
    counts: tuple[int, Mapping[str, int]] | None = None,
    may_mark: Callable[[int, str], bool] = lambda _number, _text: True,
) -> list[Hit]:
    """Order passages as answers to a question, the best first; those without a word of it come last.

    Parameters
    ----------
    question : str
        Text of a user.
    sources : sequence of Source or NumberedSource
        Their numbers begin at 1.
    counts : tuple or None
        How many passages there are, and how many have each word; None for those of the sources.
    may_mark : callable
        Whether a sentence of a source may be marked.
    """
    read = [_read(source.title, source.text, is_code=source.type in _OF_LINES) for source in sources]
    asked = _Asked(question, read, counts)
    weights = _bm25(asked, read, [prior(source) for source in sources])
    top = max(weights, default=0.0) or 1.0
    hits = [
        _hit(asked, number, source, one, weight / top, may_mark)
        for number, (source, one, weight) in enumerate(zip(sources, read, weights, strict=True), 1)
    ]
    return sorted(hits, key=lambda hit: -hit.score)


def verdict(question: str, hits: Sequence[Hit]) -> Verdict:
    """Whether the first passage says what is asked: three weights and two thresholds.

    A question that asks for a fact is answered by a sentence that has one; one that asks why or how, and a
    line of a program or a list of changes, is answered by ``may say so`` at most.
    """
    if not hits or hits[0].start == hits[0].end:
        return "nothing said so"
    first = hits[0]
    margin = (first.score - hits[1].score) / first.score if len(hits) > 1 else 0.5
    value = first.value + 4.0 * min(margin, 0.5)
    if value > _SAYS_AT and first.is_fact and not _NO_FACT.search(question):
        return "says so"
    return "may say so" if value > _MAY and first.near >= _LEAST_NEAR else "nothing said so"


def asked_kind(question: str) -> Kind | None:
    """Return what kind of fact a question asks for, or None."""
    return next((kind for kind, words in _ASKS.items() if words.search(question)), None)


def asks_yes_or_no(question: str) -> bool:
    """Whether a question can be answered by yes or no: ``Is it open?``, ``열려 있나요?``."""
    text = unicodedata.normalize("NFKC", question).strip()
    if _AUXILIARY.match(text):
        return True
    return is_korean(text) and not _INTERROGATIVE.search(text) and _KOREAN_YES_NO.search(text) is not None


def prior(source: "Source | NumberedSource") -> float:
    """What a passage counts by the kind of its file alone, 0-1."""
    return _PRIORS.get(source.type, 1.0) * (0.6 if _LOW.search(source.location) else 1.0)


class _Asked:
    """A question: its words with what each counts, and what it asks for."""

    def __init__(
        self, question: str, read: Sequence[_Read], counts: tuple[int, Mapping[str, int]] | None
    ) -> None:
        n_all, of = counts or (len(read), Counter(word for one in read for word in one.words))
        self.question, self.kind, self.is_yes_or_no = question, asked_kind(question), asks_yes_or_no(question)
        self.named, self.free = frozenset(_named(question)), optional(question)
        self.wanted = tuple(dict.fromkeys(terms(question)))
        self.rarity = {word: math.log(1 + (n_all + 0.5) / (of.get(word, 0) + 0.5)) for word in self.wanted}
        self.total = math.fsum(self.rarity[word] for word in self.wanted if word not in self.free) or 1.0

    def cover(self, words: frozenset[str]) -> float:
        """Return the share of the words that a text has, 0-1; rare ones count more."""
        had = (self.rarity[word] for word in self.wanted if word in words and word not in self.free)
        return math.fsum(had) / self.total

    def fits(self, sentence: str) -> bool:
        """Whether a sentence has what is asked for, beside what the question has."""
        if self.kind is None:
            return True
        known = () if self.kind == "default" else _SAYS[self.kind].findall(self.question)
        return bool({*_SAYS[self.kind].findall(sentence)}.difference(known))


def _named(question: str) -> Iterable[str]:
    """Words that a question writes as names: capitals inside it, or identifiers."""
    for place, word in enumerate(words_of(question)):
        if "_" in word or any(map(str.isupper, word[1:])) or (place and word[0].isupper()):
            yield from terms(word)


@lru_cache(maxsize=512)
def _read(title: str, text: str, *, is_code: bool) -> _Read:
    places = split(text, is_code=is_code)
    found = [(start, end, terms(text[start:end])) for start, end in places]
    head = terms(title)
    counts = Counter(word for *_, words in found for word in words)
    counts.update(head * _OF_HEADING)
    last = frozenset(terms(title.rpartition(" › ")[2]))
    sentences = tuple((start, end, frozenset(words)) for start, end, words in found)
    return _Read(frozenset(head), last, sentences, counts)


def _bm25(asked: _Asked, read: Sequence[_Read], priors: Sequence[float]) -> list[float]:
    mean = sum(one.counts.total() for one in read) / max(1, len(read)) or 1.0
    weights = []
    for one, of_kind in zip(read, priors, strict=True):
        norm = _K1 * (1 - _B + _B * one.counts.total() / mean)
        parts = (
            asked.rarity[word] * one.counts[word] * (_K1 + 1) / (one.counts[word] + norm)
            for word in asked.wanted
            if word in one.counts
        )
        weights.append(of_kind * math.fsum(parts))
    return weights


def _hit(
    asked: _Asked,
    number: int,
    source: "Source | NumberedSource",
    one: _Read,
    weight: float,
    may_mark: Callable[[int, str], bool],
) -> Hit:
    best, start, end, near_best, fits_best = 0.0, 0, 0, 0.0, True
    before = frozenset[str]()
    for first, last, words in one.sentences:
        own, near = asked.cover(words), asked.cover(words | one.heading | before)
        sentence = source.text[first:last]
        fits = asked.fits(sentence)
        is_new = asked.is_yes_or_no or not words <= set(asked.wanted)
        new = float(fits) if asked.kind else 0.5 * is_new
        value, before = own + near + 0.25 * new, words
        is_told = own > 0 and is_new and value > best
        if is_told and _may_answer(sentence) and may_mark(number, sentence):
            best, start, end, near_best, fits_best = value, first, last, near, fits
    whole, of_kind = one.words, prior(source)
    titled = _titled(asked, one.last)
    missing = len(asked.named - whole)
    missing += len(numbers(asked.question) - numbers(f"{source.title}\n{source.text}"))
    return Hit(
        number=number,
        start=start,
        end=end,
        score=of_kind * (weight + asked.cover(whole) + titled) + best,
        near=near_best,
        value=6.64 * near_best - 1.01 * min(missing, 2) - 4.86,
        is_fact=fits_best and of_kind >= _PRIORS["symbol"],
    )


def _may_answer(sentence: str) -> bool:
    """Whether a sentence is no question, no signature, no command, and no order to its reader."""
    is_said = not sentence.endswith(("?", "？")) and not sentence.startswith(_NO_SENTENCES)
    return is_said and not gives_orders(sentence)


def _titled(asked: _Asked, heading: frozenset[str]) -> float:
    """Return how alike the question and a passage's own heading are, 0-1."""
    if not heading:
        return 0.0
    shared = math.fsum(asked.rarity[word] for word in asked.wanted if word in heading)
    others = len(heading - set(asked.wanted)) * asked.total / max(1, len(asked.wanted))
    return 2 * shared / (asked.total + shared + others)
