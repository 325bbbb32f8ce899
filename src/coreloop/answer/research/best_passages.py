"""What sources say to a question, without a model: whole passages, and in each the best sentence."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from coreloop.answer.models.question_parts import question_parts
from coreloop.answer.repair.tables import Rejected
from coreloop.answer.research.contradictions import contradictions_in
from coreloop.answer.research.findings import Contradiction, SourcedText
from coreloop.answer.research.research_state import MarkedPassage
from coreloop.answer.search.source import Source
from coreloop.answer.text.rank import Hit, Verdict, rank, verdict
from coreloop.answer.text.sentences import split_sentences, without_footnotes

SHOWN: Final = 3
_ALL: Final = 0.99  # of the question's words: shares are sums of floats
_LEAST_WORDS: Final = 3
"""Of a rejected sentence that is looked for in a longer text, such as one with its heading."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passages:
    """What sources say to a question.

    Attributes
    ----------
    verdict : str
        Whether the marked sentences say what is asked.
    shown : tuple of MarkedPassage
        At most `SHOWN`, best first; the closest ones if nothing says so.
    quoted : tuple of (str, int)
        The sentences that answer the parts of the question, and the numbers of their sources.
    differing : tuple of Contradiction
        Sentences of the best passages with another number, date or denial.
    """

    verdict: Verdict = "nothing said so"
    shown: tuple[MarkedPassage, ...] = ()
    quoted: tuple[tuple[str, int], ...] = ()
    differing: tuple[Contradiction, ...] = ()


def find_passages(
    question: str,
    sources: Sequence[Source],
    *,
    rejected: Rejected | None = None,
    most: int = SHOWN,
    counts: tuple[int, Mapping[str, int]] | None = None,
) -> Passages:
    """Choose the passages that answer a question, and mark them.

    Parameters
    ----------
    question : str
        Text of a user.
    sources : sequence of Source
        Their numbers begin at 1.
    rejected : Rejected or None
        What is never marked, nor shown first.
    most : int
        Passages to show.
    counts : tuple or None
        See `coreloop.answer.text.rank.rank`.
    """
    wrong = rejected or Rejected()

    def may_mark(number: int, text: str) -> bool:
        return not wrong or not is_rejected(text, sources[number - 1], wrong)

    said: list[tuple[Verdict, tuple[tuple[str, int], ...], list[Contradiction]]] = []
    marks: dict[int, Hit] = {}
    order: list[Hit] = []
    for part in question_parts(question):
        hits = _once(rank(part, sources, counts=counts, may_mark=may_mark), sources)
        own = verdict(part, hits)
        if wrong and (not hits or hits[0].near < _ALL):
            own = "nothing said so"  # what is left after a rejection must say all of it
        told = (
            [hit for hit in hits[:most] if hit.is_near or hit is hits[0]] if own != "nothing said so" else []
        )
        marks = {hit.number: hit for hit in told} | marks
        pairs = contradictions_in(part, [_sourced(hit, sources) for hit in told])
        said.append((own, _quoted(told, pairs, sources), pairs))
        order += hits
    quoted = tuple(quote for _, quotes, _ in said for quote in quotes)
    numbers = [number for _, number in quoted]
    numbers += [
        number for *_, pairs in said for pair in pairs for side in (pair.b, pair.a) for number in side.sources
    ]
    numbers += [hit.number for hit in sorted(order, key=lambda hit: -hit.score)]
    return Passages(
        verdict=_together([own for own, *_ in said]),
        shown=tuple(_passage(number, marks) for number in _first(numbers, sources)[:most]),
        quoted=tuple(dict.fromkeys(quoted)),
        differing=tuple(pair for *_, pairs in said for pair in pairs),
    )


def is_rejected(text: str, source: Source, rejected: Rejected) -> bool:
    """Whether a person rejected a text of a source: the source itself, or a sentence, also in parts."""
    is_old = (
        rejected.until is not None and source.published is not None and source.published <= rejected.until
    )
    if is_old or source.location in rejected.locations:
        return True
    wrong = [f" {_words_of(sentence)} " for sentence in rejected.sentences]
    parts = [f" {_words_of(part)} " for part in split_sentences(text)] if wrong else []
    return any(
        part in sentence or (sentence in part and sentence.count(" ") > _LEAST_WORDS)
        for part in parts
        for sentence in wrong
    )


def sentence_key(text: str) -> str:
    """Return what identifies a sentence wherever it stands: its words on one line."""
    return without_footnotes(text).casefold()


def _words_of(text: str) -> str:
    return " ".join(re.findall(r"[\w.,%-]*\w", sentence_key(text)))


def _together(verdicts: Sequence[Verdict]) -> Verdict:
    """A question is answered if each of its parts is."""
    if all(own == "nothing said so" for own in verdicts):
        return "nothing said so"
    return "says so" if all(own == "says so" for own in verdicts) else "may say so"


def _quoted(
    told: Sequence[Hit], pairs: Sequence[Contradiction], sources: Sequence[Source]
) -> tuple[tuple[str, int], ...]:
    """The best sentence; what is newer before what differs from it, alone if that is superseded."""
    quotes = [_sourced(hit, sources) for hit in told[:1]]
    for pair in pairs:
        if pair.a in quotes and (pair.is_dated or pair.is_superseded):
            quotes = [pair.b] if pair.is_superseded else [pair.b, pair.a]
    return tuple((said.text, said.sources[0]) for said in quotes)


def _once(hits: Iterable[Hit], sources: Sequence[Source]) -> list[Hit]:
    by_number = {hit.number: hit for hit in hits}
    return [by_number[number] for number in _first(by_number, sources)]


def _first(numbers: Iterable[int], sources: Sequence[Source]) -> list[int]:
    """Each place and each text once: a symbol is found by its docstring and by its body."""
    places, texts, once = set[tuple[str, int]](), set[str](), []
    for number in dict.fromkeys(numbers):
        source = sources[number - 1]
        place = (source.location, source.line if source.line is not None else -number)
        if place not in places and source.text not in texts:
            once.append(number)
        places.add(place)
        texts.add(source.text)
    return once


def _sourced(hit: Hit, sources: Sequence[Source]) -> SourcedText:
    source = sources[hit.number - 1]
    text = without_footnotes(source.text[hit.start : hit.end])
    return SourcedText(text, (hit.number,), source.published, source.title)


def _passage(number: int, marks: Mapping[int, Hit]) -> MarkedPassage:
    hit = marks.get(number)
    return MarkedPassage(number=number, start=hit.start if hit else 0, end=hit.end if hit else 0)
