"""What sources say to a question: the best passages, and whether they support what a model wrote."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final

from coreloop.answer.research.findings import Contradiction, SourcedText, citation_marks, contradictions
from coreloop.answer.research.next_queries import question_parts, readings
from coreloop.answer.research.research_state import Attempt, Dropped, MarkedPassage, ReadSource
from coreloop.answer.search.extract.file_date import last_day
from coreloop.answer.search.index.search_index import word_counts
from coreloop.answer.search.provider import Source
from coreloop.answer.text import claims
from coreloop.answer.text.rank import Counts, Hit, rank
from coreloop.answer.text.terms import keys, search_words
from coreloop.base.git.repository import author_date
from coreloop.base.project.workspace import Workspace

SHOWN: Final = 3
# Of a rejected sentence that is looked for in a longer text, such as one with its heading.
_LEAST_WORDS: Final = 3


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
    rejected : frozenset of str
        What is never marked, shown first or kept of a model's answer.
    known : collection of Contradiction
        Those that were found before.
    workspace : Workspace or None
        Its index says how rare words are, and git when lines were written; None if no files are searched.
    """

    question: str
    sources: Sequence[ReadSource]
    rejected: frozenset[str] = frozenset()
    known: Collection[Contradiction] = ()
    workspace: Workspace | None = None

    def may_mark(self, text: str) -> bool:
        """Whether no person rejected a sentence of a text."""
        return not is_rejected(text, self.rejected)


def quoted(attempt: Attempt, grounds: Grounds) -> Attempt:
    """Answer without a model: by the passages that say it, or the closest ones."""
    sources, texts = grounds.sources, [read.source for read in grounds.sources]
    project = grounds.workspace
    counts = word_counts(project.index_file, grounds.question) if project else None
    marks: dict[int, MarkedPassage] = {}
    parts = question_parts(grounds.question)
    quotes, unsaid, pairs, order = list[SourcedText](), list[str](), list[Contradiction](), list[Hit]()
    for part in parts:
        own = [part] if part == parts[0] or len(search_words(part)) > 1 else []  # else of any subject
        meant = [*(readings(part, parts[0]) if part != parts[0] else ()), *own]
        judged = [_judged(reading, texts, grounds, counts) for reading in meant]
        hits = next((hits for hits in judged if hits and hits[0].says_so), judged[-1])
        said = [_sourced(hit, texts) for hit in hits[:SHOWN] if hit.says_so]
        near = [hit for hit in hits[:SHOWN] if hit.is_near or hit.says_so]
        marks = {hit.number: MarkedPassage(hit.number, hit.start, hit.end) for hit in near} | marks
        quotes += said[:1]
        unsaid += [] if said else [part]
        pairs += contradictions(said, part)
        order += hits
    numbers = [quote.sources[0] for quote in quotes]
    best = [*numbers, *(number for pair in pairs for number in pair.b.sources + pair.a.sources)]
    best += [hit.number for hit in sorted(order, key=lambda hit: -hit.score)]
    shown = _places_once(best, texts)[:SHOWN]
    differing = tuple({pair.texts: pair for pair in (*grounds.known, *pairs)}.values())
    cited = dict.fromkeys([*numbers, *shown, *(number for pair in differing for number in pair.sources)])
    return replace(
        attempt,
        verdict="nothing said so" if unsaid else "says so",
        unsaid=tuple(unsaid) if quotes else (),
        sentences=tuple(dict.fromkeys(f"{quote.text} [{quote.sources[0]}]" for quote in quotes)),
        cited=tuple(replace(sources[n - 1], source=texts[n - 1]) for n in cited if n <= len(sources)),
        passages=tuple(marks.get(number, MarkedPassage(number)) for number in shown),
        differing=differing,
    )


def reorder(grounds: Grounds) -> Grounds:
    """Number the sources as `quoted` shows them: from 1."""
    shown = {read.number: read.source for read in quoted(Attempt(number=0), grounds).cited}
    every = shown | {read.number: read.source for read in grounds.sources if read.number not in shown}
    return replace(grounds, sources=numbered(every.values()))


def _judged(part: str, sources: list[Source], grounds: Grounds, counts: Counts) -> list[Hit]:
    """Return the passages of a part of a question, the best first; of those that say so, the newest.

    Of several that say so, those without a date get that of their lines in git.
    """
    by_number = {hit.number: hit for hit in rank(part, sources, counts=counts, may_mark=grounds.may_mark)}
    hits = [by_number[number] for number in _places_once(by_number, sources)]
    said = [hit for hit in hits if hit.says_so]
    for number in [hit.number - 1 for hit in said if grounds.workspace and len(said) > 1]:
        sources[number] = _dated(sources[number], by_number[number + 1], grounds)
    dated = [hit for hit in said if sources[hit.number - 1].published]
    newest = iter(sorted(dated, key=lambda hit: last_day(sources[hit.number - 1].published), reverse=True))
    return [next(newest) if hit in dated else hit for hit in hits]


def _dated(source: Source, hit: Hit, grounds: Grounds) -> Source:
    if source.published or not (grounds.workspace and source.line) or source.type == "pdf":
        return source
    first, last = (source.line + source.text.count("\n", 0, place) for place in (hit.start, hit.end))
    day = author_date(grounds.workspace.root / source.location, first, last)
    return replace(source, published=day and f"{day}, git")


def is_rejected(text: str, rejected: frozenset[str]) -> bool:
    """Whether a person rejected a sentence of a text, also in parts."""
    wrong = [f" {_words_of(sentence)} " for sentence in rejected]
    parts = [f" {_words_of(part)} " for part in claims.split_sentences(text)] if wrong else []
    return any(
        part in sentence or (sentence in part and sentence.count(" ") > _LEAST_WORDS)
        for part in parts
        for sentence in wrong
    )


def _words_of(text: str) -> str:
    return " ".join(re.findall(r"[\w.,%-]*\w", claims.without_footnotes(text).casefold()))


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
    text = claims.without_footnotes(source.text[hit.start : hit.end])
    return SourcedText(text, (hit.number,), source.published)


NO_EVIDENCE: Final = "No evidence found."
# Why a sentence is dropped.
UNCITED: Final = "cites no source"
REJECTED: Final = "a person rejected it as an answer"
_MAX_CHARS: Final = 100_000
_MAX_SENTENCES: Final = 300  # of an answer; what follows is left out
_SHORT: Final = 3  # words up to which a sentence is read with the question: ``1 MB``, ``Seven attempts.``
_MAX_COMPUTED: Final = 2  # sources that are named for a sentence that names none itself
_MAX_CITED: Final = 10  # sources of a sentence
_CITED: Final = re.compile(r"(?<!\s)\s*\[(\d{1,6}(?:\s*,\s*\d{1,6})*)\]")  # " [3]" and "[1, 2]"
_AFTER_END: Final = re.compile(r"([.!?。！？…][\"'”’)]*)((?:\s*\[\d[\d,\s]*\])+)")  # "… rose. [3]"
_MARK: Final = "\ue000{}\ue001"
_MARKED: Final = re.compile("\ue000(\\d+)\ue001")
_CLAUSE: Final = re.compile(r"[,;]\s|\s(?:so(?: that)?|because|since|but|while)\s|(?<=[가-힣][고며서])\s")
_BULLET: Final = re.compile(r"^\s*(?:[-*•]|\d{1,2}[.)])\s+")


def check_answer(attempt: Attempt, text: str, grounds: Grounds, *, named: Sequence[int] = ()) -> Attempt:
    """Keep the sentences of an answer that a source supports, each with the number of that source.

    Parameters
    ----------
    attempt : Attempt
        Gets the sentences, and what was dropped.
    text : str
        Of a model: untrusted.
    grounds : Grounds
        What it may be made of; a sentence too short to say what it is about is read with the question.
    named : sequence of int
        The sources of sentences that cite none themselves.
    """
    kept: dict[str, Sequence[int]] = {}
    dropped: list[Dropped] = []
    for claim, numbers in islice(cited_sentences(text), _MAX_SENTENCES):
        cited, reason = supporting(claim, numbers or named, grounds)
        cited = cited if numbers else cited[:_MAX_COMPUTED]
        if cited:
            kept[f"{claim} {citation_marks(cited)}"] = cited
        else:
            dropped.append(Dropped(claim, reason))
    numbers = tuple(dict.fromkeys(number for cited in kept.values() for number in cited))
    return replace(
        attempt,
        verdict="says so" if kept else "nothing said so",
        sentences=tuple(kept),
        cited=tuple(grounds.sources[number - 1] for number in numbers),
        dropped=tuple(dropped),
    )


def supporting(claim: str, numbers: Sequence[int], grounds: Grounds) -> tuple[Sequence[int], str]:
    """Return the cited sources that say a sentence, each alone or else together, or why they do not.

    The question's words are no evidence: a short sentence, which is read with them, must bring half of its
    own.
    """
    question, sources = grounds.question, grounds.sources
    if not numbers:
        return (), UNCITED
    cited = [sources[number - 1] for number in numbers[:_MAX_CITED] if 0 < number <= len(sources)]
    if not cited:
        return (), f"cites {', '.join(map('[{}]'.format, numbers[:_MAX_CITED]))}, which does not exist"
    # of a passage with a rejected sentence, the others are kept word for word
    left = [one for one in cited if grounds.may_mark(one.source.text) or claims.holds(one.source.text, claim)]
    if not (left and grounds.may_mark(claim)):
        return (), REJECTED
    left = [read for read in left if claims.plain(claim) != read.source.title]
    left = [read for read in left if not _is_mixed(claim, read.source.text, read.source.title)]
    if question and len(keys(claim)) <= _SHORT:
        own = keys(claim) - keys(question)
        left = [read for read in left if 2 * len(own & keys(read.source.text)) >= len(own)]
        claim = f"{' '.join(search_words(question))}: {claim}"
    said = {read.number: _said(claim, read.source) for read in left}
    alone = [number for number, texts in said.items() if not claims.lack(claim, texts)]
    reason = "" if alone else claims.lack(claim, [text for texts in said.values() for text in texts])
    return ((), reason) if reason else (alone or [*said], "")


def _said(claim: str, source: Source) -> list[str]:
    """Return a text, its heading, its rows that may say a claim, and its clauses: each denies for itself."""
    prose = re.sub(r"(?m)^\|.*\n\|[ :|-]+\n(?:\|.*\n?)*", "", source.text)
    return [prose, source.title, *_rows(claim, source.text), *_CLAUSE.split(prose)]


def _rows(claim: str, text: str) -> list[str]:
    """Return the rows of tables that have all words of a claim that rows have, each cell with its column."""
    heads = ((claims.head_of_table(text, start), text[start:end]) for start, end in claims.split(text))
    cells = [[line.strip(" |").split("|") for line in pair] for pair in heads if pair[0]]
    rows = [" ".join(cell for pair in zip(*row, strict=False) for cell in pair) for row in cells]
    return [row for row in rows if keys(claim) & keys(" ".join(rows)) <= keys(row)]


def _is_mixed(claim: str, text: str, heading: str) -> bool:
    """Whether a claim has names or, with a number, words that the text says of something else.

    That is: far from the sentence with most of its words, or only behind it.
    """
    said, wanted = [keys(one) for one in (heading, *claims.split_sentences(text))], keys(claim)
    place = max(range(len(said)), key=lambda at: (len(said[at] & wanted), at))
    near = (said[0], *said[max(0, place - 1) : place + 1], *map(keys, _rows(claim, text)))
    far, named = frozenset().union(*said).difference(*near), keys(" ".join(claims.names(claim)))
    return bool(named & far or (re.search(r"\d", claim) and (wanted & far).difference(*said[:place])))


def without(attempt: Attempt, unsupported: Collection[int]) -> Attempt:
    """Drop sentences by their numbers, from 1."""
    left = tuple(one for number, one in enumerate(attempt.sentences, 1) if number not in unsupported)
    gone = [without_citations(one) for one in attempt.sentences if one not in left]
    dropped = (Dropped(one, "a model does not find it in its source") for one in gone)
    return replace(attempt, sentences=left, dropped=(*attempt.dropped, *dropped))


def source_number(name: str) -> int | None:
    """Read ``3`` or ``[3]``; anything else names no source."""
    number = re.fullmatch(r"\[?([0-9]{1,6})\]?", name.strip())
    return int(number[1]) if number else None


def cited_sentences(text: str) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yield the sentences of an answer without their citations, and the numbers that each cites.

    A sentence that cites nothing has the citations of the next one on its line.
    """
    for written in text[:_MAX_CHARS].splitlines():
        line = _BULLET.sub("", _MARKED.sub("", " ".join(written.split())))
        cited: list[tuple[str, tuple[int, ...]]] = []
        for sentence in reversed(claims.split_sentences(_marked(line))):
            claim = " ".join(_MARKED.sub("", sentence).split())
            numbers = tuple(dict.fromkeys(int(match[1]) for match in _MARKED.finditer(sentence)))
            if claim.strip(".!?。 "):
                cited.append((claim, numbers or (cited[-1][1] if cited else ())))
        yield from reversed(cited)


def without_citations(text: str) -> str:
    """Return a text without its citations, on one line."""
    return " ".join(_CITED.sub("", text).split())


def _marked(line: str) -> str:
    """Move citations before the end of their sentence, as marks that are no end of a sentence."""
    line = _AFTER_END.sub(r"\2\1", line)
    return _CITED.sub(lambda match: "".join(map(_MARK.format, re.findall(r"\d+", match[1]))), line)
