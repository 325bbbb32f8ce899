"""Which passages answer a question: BM25, rare words, one sentence marked, and whether it says so.

`benchmarks/ask.py` measures it.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from coreloop.answer.search.provider import Source
from coreloop.answer.text.claims import OPEN, ORDERS, SPELT, head_of_table, numbers, split, unsaid
from coreloop.answer.text.terms import is_cjk, search_words, terms, words_of

if TYPE_CHECKING:
    from coreloop.answer.models.contracts import NumberedSource

Counts = tuple[int, Mapping[str, int]] | None  # passages, and how many have each word
# Tests and lists of changes, whose words say less than a document's.
_LOW: Final = re.compile(
    r"(?i)(?:^|/)(?:tests?|testing|examples?|benchmarks?|history)/"
    r"|(?:^|/)(?:test_|conftest|change|news|(?:version)?history|whats|release|licen|copying|authors|thanks"
    r"|contribut)[^/]*$"
)
_PRIORS: Final = {"python": 0.75, "code": 0.75, "data": 0.85, "symbol": 0.9, "schema": 0.9}
_PAIR: Final = re.compile(
    r"[\"']?(?P<key>\w[\w .$/@-]{0,80}?)(?:_(?:eur|usd|gbp|chf|jpy|krw|pct)|\([^()\n]{0,20}\))?[\"']?\s?[:=]"
    r"\s?(?P<value>[^\s;{\[](?:[^;\n]*[^\s;,])?)"
)  # timeout: 30, "PORT" = 80, price (USD): 3 of a row that ends or goes on with a semicolon
_CELLS: Final = {"number": r"\W*\d", "name": r"\W*[^\W\d]", "place": r"\W*[^\W\d]"}
_OF_VALUES: Final = re.compile(r"(?i)\b(?:set(?:tings?)?|values?|options?|configured)\b|설정|값")
_OF_LINES: Final = frozenset({"python", "code", "data"})  # types whose lines are what sentences are elsewhere
# By kind of fact: what asks for it, and what a sentence has that answers.
_FACTS: Final = Path(__file__).with_name("facts.tsv").read_text("utf-8").splitlines()[1:]
_ASKS, _SAYS = ({row.split("\t")[0]: row.split("\t")[place] for row in _FACTS} for place in (1, 2))
# Questions that no sentence with their words answers alone.
_NO_FACT: Final = re.compile(
    r"(?i)\b(?:why|how (?!many|much|long|old|far|large|big|tall|high|deep|often|fast|heavy)|mean)"
    r"|\bwhat(?:'s| is| are) (?:an? )?[\w-]+(?: [\w-]+)?\s?(?:\?|\Z)|\bwhat do(?:es)? .{1,200} do\b"
    r"|왜|어떻|방법|이유|무엇|뭐|무슨|어떤"
)
# A noun that is asked by, which no answer repeats: what time does it open; not: what time zone is it
_BY: Final = re.compile(r"(?i)\b(?:what|which) (?:time|day|date|year|month)(?= (?:[dhmw]|is|are|can))")
# The unit of what is asked: 몇 명인가, 며칠
_COUNTED: Final = re.compile(
    r"몇 ?([가-힣]+?)(?:인[가지]|이[나야]|[을를이가은는의야]|까지)?요?(?![가-힣])|(?<![가-힣])며칠"
)
# The noun of what is asked, and a number beside it
_MANY: Final = re.compile(r"(?i)\bhow many (?:[\w-]+ ){0,2}?([\w-]+?)(?:es|s)?(?:\?| (?:[dhmw]|is|are|can))")
_AMOUNT: Final = rf"(?:\d[\d.,]*|\b(?:{'|'.join(SPELT)})\b)"
# Between a number and its noun: 85 new employees; not: 29 EUR per employee
_BETWEEN: Final = r"\S*\W+(?:(?!(?:per|for|to|an?|the|of|each|every|by|in|and|or|has|have)\b)\w+\W+){0,2}"
_AFTER: Final = rf"\S*(?:\W+\w+)?\W+{_AMOUNT}(?=\W*$|\s?[;:)|]| (?:in|at|on|per|and)\b)"  # employees: 85
# What stands between a question and its answer: its mark, or the end of a heading, and an underline
_BELOW: Final = r"\W*?(?(1)[?\n]|\?)[\s*_]*(?:([=~^\"'*+.-])\2{2,}\s+)?(?:A(?:nswer)?:\s+)?"
_OF_BEFORE: Final = re.compile(r"(?:Its?|They|Their|This|That|These|He|She|His)\b|[이그]는?\s(?![후뒤외])")
_IN_SENTENCE: Final = re.compile(r"(?i)\b(?:the|an?|of|is|are|by|to|in|with|for)\b|\|")
_LEAST_NEAR: Final = 0.8  # fitted on questions of KorQuAD and XQuAD
_K1, _B = 1.2, 0.75  # of BM25, as SQLite has them
_ENDS: Final = frozenset(".!。|")  # of a sentence or a row, not of a heading that repeats the question
_NO_SENTENCES: Final = ("def ", "async def ", "class ", "@", "$ ", ">>> ", "![", ".. auto")


class Hit(NamedTuple):
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
    says_so : bool
        Whether the sentence has what is asked for and, with its heading, every word of the question.
    """

    number: int
    start: int
    end: int
    score: float
    near: float
    says_so: bool

    @property
    def is_near(self) -> bool:
        """Whether its sentence is worth a look."""
        return self.end > self.start and self.near >= _LEAST_NEAR


class _Read(NamedTuple):
    """A source: words of its heading and of each sentence, with its place; ``last`` of its own heading."""

    heading: frozenset[str]
    last: frozenset[str]
    sentences: tuple[tuple[int, int, frozenset[str]], ...]
    counts: Counter[str]
    words: frozenset[str]


def rank(
    question: str,
    sources: "Sequence[Source | NumberedSource]",
    *,
    counts: Counts = None,
    may_mark: Callable[[str], bool] = lambda _: True,
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
        Whether a sentence may be marked.
    """
    read = [_read(source.title, source.text, is_code=source.type in _OF_LINES) for source in sources]
    asked = _Asked(question, read, counts)
    weights = _bm25(asked, read, [prior(source) for source in sources])
    top, hits = max(weights, default=0.0) or 1.0, list[Hit]()
    for number, (source, one, weight) in enumerate(zip(sources, read, weights, strict=True), 1):
        of_kind, told = prior(source), _told(asked, source, one, may_mark)
        says_so, best, near, start, end = max(told, default=(False, 0.0, 0.0, 0, 0))
        is_snippet = source.location.startswith("http") and getattr(source, "start", 0) is None
        says_so = says_so and of_kind >= _PRIORS["data"] and not is_snippet
        score = of_kind * (weight / top + asked.cover(one.words) + asked.cover(one.last)) + best
        hits.append(Hit(number, -start, end, score, near, says_so))
    return sorted(hits, key=lambda hit: (-hit.says_so, -hit.score))


def asked_kind(question: str) -> str | None:
    """Return what kind of fact a question asks for, or None."""
    return next((kind for kind, words in _ASKS.items() if re.search(words, question, re.IGNORECASE)), None)


def asks_for_fact(question: str) -> bool:
    """Whether one sentence can answer a question; none answers why, how, or what something means."""
    return _NO_FACT.search(question) is None


def prior(source: "Source | NumberedSource") -> float:
    """What a passage counts by the kind of its file alone, 0-1."""
    return _PRIORS.get(source.type, 1.0) * (0.6 if _LOW.search(source.location) else 1.0)


class _Asked:
    """A question: its words with what each counts, and what it asks for."""

    def __init__(self, question: str, read: Sequence[_Read], counts: Counts) -> None:
        n_all, of = counts or (len(read), Counter(word for one in read for word in one.words))
        written = r"\W+".join(map(re.escape, words_of(question)))
        self.repeated = re.compile(rf"(?:\A|[\n.!?:)])(#)?[\W_]{{0,9}}(?i:{written}){_BELOW}")
        self.kind, self.question = asked_kind(question), _BY.sub("", question.removeprefix("May "))
        self.words, self.wanted = search_words(self.question), tuple(dict.fromkeys(terms(self.question)))
        self.rarity = {word: math.log(1 + (n_all + 0.5) / (of.get(word, 0) + 0.5)) for word in self.wanted}
        self.total = math.fsum(self.rarity.values()) or 1.0

    def cover(self, words: frozenset[str]) -> float:
        """Return the share of the words that a text has, 0-1; rare ones count more."""
        return math.fsum(self.rarity[word] for word in self.wanted if word in words) / self.total

    def fits(self, sentence: str) -> bool:
        """Whether a sentence has what is asked for, beside what the question has."""
        if self.kind is None:
            return True
        says, unit = re.compile(_SAYS[self.kind]), _COUNTED.search(self.question)
        has_unit = not unit or re.search(rf"[\d만억천]\s?{unit[1] or '일'}", sentence)
        if many := _MANY.search(self.question):
            has_unit = re.search(rf"(?i){_AMOUNT}{_BETWEEN}{many[1]}|\b{many[1]}{_AFTER}", sentence)
        new = {*says.findall(sentence)}.difference(says.findall(self.question))
        return bool(has_unit) and any(not {*terms(one)} & {*self.wanted} for one in new)

    def says_so(self, sentence: str, heading: str, before: str) -> bool:
        """Whether a sentence answers alone: it is a statement with every word of the question.

        Its heading may have some of them, the sentence before the name of what both are about. A row has the
        head of its table before it, where numbers of the question are of one column: 2024, first quarter.
        """
        # a list of names, what announces a list, or a question that any sentence could answer
        is_short = sum(map(str.isalpha, self.words)) < 3 and " of " not in self.question  # chosen
        is_list = sentence[-1] == ":" or not (sentence[-1] in _ENDS or _IN_SENTENCE.search(sentence))
        is_vague = sentence.isascii() and (is_list or is_short)
        head, given = sentence.rpartition("\n")[0], numbers(self.question)
        is_apart = not any(given & numbers(head) <= numbers(cell) for cell in head.split("|"))
        if (is_vague and not self.kind) or is_apart or not asks_for_fact(self.question):
            return False
        missing, elsewhere = unsaid(self.question, f"{heading}\n{sentence}"), unsaid(self.question, sentence)
        topics = {*filter(is_name, self.words), *filter(is_cjk, self.words[:1])}
        is_about = self.kind and (topics.issuperset(missing) or _OF_BEFORE.match(sentence))
        is_whole = not missing or (is_about and not unsaid(" ".join(missing), before))
        has_own = self.kind or topics.issuperset(elsewhere)  # else nothing shows that it has what is asked
        return bool(is_whole and has_own and len(elsewhere) < len(self.words))

    def cell(self, sentence: str) -> re.Match[str] | None:
        """Return the only key with a value, or cell with its head, that is asked for by its name, or None."""
        pairs = (pair for pair in _PAIR.finditer(sentence) if search_words(pair["key"]))
        named = [pair for pair in pairs if not unsaid(pair["key"], self.question)]
        cells = [pair for pair in named if unsaid(pair["value"], self.question)]
        return cells[0] if len(cells) == 1 else None

    def has_value(self, cell: re.Match[str], path: str) -> bool:
        """Whether a cell answers alone: its row or its key path has every other word of the question."""
        begins, asked = _CELLS.get(self.kind or "", "(?!)"), _OF_VALUES.sub("", self.question)
        fits = self.fits(cell[0]) or re.match(begins, cell["value"])
        return bool(fits and asks_for_fact(self.question) and not unsaid(asked, path))


def is_name(word: str) -> bool:
    """Whether a word of a question is written as a name: with a capital, a digit or an underscore."""
    return any(sign == "_" or sign.isupper() or sign.isdecimal() for sign in word)


@lru_cache(maxsize=512)
def _read(title: str, text: str, *, is_code: bool) -> _Read:
    found = [(*place, terms(text[slice(*place)])) for place in split(text, is_code=is_code)]
    head = terms(title)
    counts = Counter([*head, *head, *(word for *_, words in found for word in words)])
    sentences = tuple(
        (start, end, frozenset(words + terms(head_of_table(text, start)))) for start, end, words in found
    )
    words = frozenset(head).union(*(words for *_, words in sentences))
    return _Read(frozenset(head), frozenset(terms(title.rpartition(" › ")[2])), sentences, counts, words)


def _bm25(asked: _Asked, read: Sequence[_Read], priors: Sequence[float]) -> list[float]:
    mean = sum(one.counts.total() for one in read) / max(1, len(read)) or 1.0
    weights = []
    for one, of_kind in zip(read, priors, strict=True):
        norm = _K1 * (1 - _B + _B * one.counts.total() / mean)
        shares = {word: one.counts[word] * (_K1 + 1) / (one.counts[word] + norm) for word in asked.wanted}
        weights.append(of_kind * math.fsum(asked.rarity[word] * share for word, share in shares.items()))
    return weights


def _told(
    asked: _Asked, source: "Source | NumberedSource", one: _Read, may_mark: Callable[[str], bool]
) -> Iterator[tuple[bool, float, float, int, int]]:
    """Yield the sentences that may be marked: whether each says so, what it is worth, and where it stands."""
    before, text, heading = "", source.text, f"{source.title}\n{source.location}"
    words_before, repeated = frozenset[str](), asked.repeated.search(text)
    for begin, last, words in one.sentences:
        is_below = repeated is not None and begin <= repeated.end() < last
        first = repeated.end() if repeated and is_below else begin
        own, near = asked.cover(words), asked.cover(words | one.heading | words_before)
        sentence, head = text[first:last], head_of_table(text, first)
        fits, is_new = asked.fits(sentence), sentence[-1] in _ENDS or not words <= set(asked.wanted)
        value = own + near + 0.25 * (float(fits) if asked.kind else 0.5 * is_new)
        if (own > 0 or is_below) and is_new and _may_answer(sentence) and may_mark(sentence):
            cell = asked.cell(sentence) if source.type in {"data", "table"} else None
            start, end = cell.span() if cell else (0, len(sentence))
            said = f"{heading}\n{sentence}" if cell else f"{head}\n{sentence}".strip()
            says_so = asked.has_value(cell, said) if cell else fits and asked.says_so(said, heading, before)
            says_so = (says_so or (is_below and sentence[-1] != ":")) and not OPEN.search(sentence)
            yield says_so and bool(cell or source.type != "data"), value, near, -first - start, first + end
        before, words_before = sentence, words


def _may_answer(sentence: str) -> bool:
    """Whether a sentence is no question, no signature, no command, and no order to its reader."""
    return not (sentence[-1] in "?？" or sentence.startswith(_NO_SENTENCES) or ORDERS.search(sentence))
