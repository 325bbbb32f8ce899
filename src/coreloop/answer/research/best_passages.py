"""What sources say to a question, without a model: whole passages, and in each the best sentence."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from coreloop.answer.models.question_parts import question_parts
from coreloop.answer.repair.tables import NOTHING, Rejected
from coreloop.answer.research.contradictions import contradictions
from coreloop.answer.research.findings import Contradiction, SourcedText
from coreloop.answer.research.research_state import Attempt, MarkedPassage, ReadSource, Verdict
from coreloop.answer.search.index.search_index import word_counts
from coreloop.answer.search.source import Source
from coreloop.answer.text.rank import Hit, rank, verdict
from coreloop.answer.text.sentences import split_sentences, without_footnotes

SHOWN: Final = 3
_ALL: Final = 0.99  # of the question's words: shares are sums of floats
_LEAST_WORDS: Final = 3
"""Of a rejected sentence that is looked for in a longer text, such as one with its heading."""


def numbered(sources: Iterable[Source]) -> list[ReadSource]:
    """Number sources from 1, as they were found."""
    return [ReadSource(number, source, "", "", 1) for number, source in enumerate(sources, 1)]


@dataclass(frozen=True, slots=True)
class Grounds:
    """What an answer may be made of.

    Attributes
    ----------
    question : str
        Text of a user.
    sources : sequence of ReadSource
        Best first; their numbers begin at 1.
    rejected : Rejected
        What is never marked, shown first or kept of a model's answer.
    known : collection of Contradiction
        Those that were found before.
    index : Path or None
        Says how rare words are; None for how rare they are in the sources.
    """

    question: str
    sources: Sequence[ReadSource]
    rejected: Rejected = NOTHING
    known: Collection[Contradiction] = ()
    index: Path | None = None


def quoted(attempt: Attempt, grounds: Grounds, *, most: int = SHOWN) -> Attempt:
    """Answer without a model: by the passages that say it, or the closest ones; shows ``most`` of them."""
    sources, rejected = grounds.sources, grounds.rejected
    texts = [read.source for read in sources]
    counts = word_counts(grounds.index, grounds.question) if grounds.index else None

    def may_mark(number: int, text: str) -> bool:
        return not rejected or not is_rejected(text, texts[number - 1], rejected)

    verdicts: list[Verdict] = []
    marks: dict[int, Hit] = {}
    said: list[SourcedText] = []
    pairs: list[Contradiction] = []
    order: list[Hit] = []
    for part in question_parts(grounds.question):
        hits = _once(rank(part, texts, counts=counts, may_mark=may_mark), texts)
        own = verdict(part, hits)
        if rejected and (not hits or hits[0].near < _ALL):
            own = "nothing said so"  # what is left after a rejection must say all of it
        told = (
            [] if own == "nothing said so" else [hit for hit in hits[:most] if hit.is_near or hit is hits[0]]
        )
        marks = {hit.number: hit for hit in told} | marks
        apart = contradictions([_sourced(hit, texts) for hit in told], part)
        said += _best([_sourced(hit, texts) for hit in told[:1]], apart)
        verdicts.append(own)
        pairs += apart
        order += hits
    numbers = [text.sources[0] for text in said] + [number for pair in pairs for number in _newer_first(pair)]
    numbers += [hit.number for hit in sorted(order, key=lambda hit: -hit.score)]
    shown = _places_once(numbers, texts)[:most]
    differing = tuple({pair.texts: pair for pair in (*grounds.known, *pairs)}.values())
    cited = dict.fromkeys([*numbers[: len(said)], *shown, *(n for pair in differing for n in pair.sources)])
    return replace(
        attempt,
        verdict=_together(verdicts),
        sentences=tuple(dict.fromkeys(f"{text.text} [{text.sources[0]}]" for text in said)),
        cited=tuple(sources[number - 1] for number in cited if number <= len(sources)),
        passages=tuple(_passage(number, marks) for number in shown),
        differing=differing,
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


def _best(quotes: list[SourcedText], pairs: Sequence[Contradiction]) -> list[SourcedText]:
    """The best sentence; what is newer before what differs from it."""
    newer = [pair for pair in pairs if pair.is_dated and pair.a in quotes]
    return [newer[-1].b, newer[-1].a] if newer else quotes


def _newer_first(pair: Contradiction) -> tuple[int, ...]:
    return pair.b.sources + pair.a.sources


def _once(hits: Iterable[Hit], sources: Sequence[Source]) -> list[Hit]:
    by_number = {hit.number: hit for hit in hits}
    return [by_number[number] for number in _places_once(by_number, sources)]


def _places_once(numbers: Iterable[int], sources: Sequence[Source]) -> list[int]:
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
    return SourcedText(text, (hit.number,), source.published)


def _passage(number: int, marks: Mapping[int, Hit]) -> MarkedPassage:
    hit = marks.get(number)
    return MarkedPassage(number=number, start=hit.start if hit else 0, end=hit.end if hit else 0)
