"""Whether the sources say what a model wrote: citations that exist, and texts that say the sentence."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Final

from coreloop.answer.repair.tables import Rejected
from coreloop.answer.research.best_passages import Grounds, is_rejected
from coreloop.answer.research.findings import citation_marks
from coreloop.answer.research.research_state import Attempt, Dropped, ReadSource
from coreloop.answer.text.claims import holds, lack
from coreloop.answer.text.sentences import split_sentences
from coreloop.answer.text.terms import keys, search_words

NO_EVIDENCE: Final = "No evidence found."
UNCITED: Final = "cites no source"
REJECTED: Final = "a person rejected it as an answer"
"""Why a sentence without a citation, and one that a person rejected, is dropped."""
_MAX_CHARS: Final = 100_000
_MAX_SENTENCES: Final = 300
"""Of an answer; what follows is left out."""
_SHORT: Final = 3
"""Words up to which a sentence is read with the question: ``1 MB``, ``Seven attempts.``"""
_MAX_COMPUTED: Final = 2
"""Sources that are named for a sentence that names none itself."""
_MAX_CITED: Final = 10
"""Sources of a sentence."""
_CITED: Final = re.compile(r"(?<!\s)\s*\[(\d{1,6}(?:\s*,\s*\d{1,6})*)\]")  # " [3]" and "[1, 2]"
_AFTER_END: Final = re.compile(r"([.!?。！？…][\"'”’)]*)((?:\s*\[\d[\d,\s]*\])+)")  # "… rose. [3]"
_MARK: Final = "\ue000{}\ue001"
_MARKED: Final = re.compile("\ue000(\\d+)\ue001")
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
    for claim, numbers in islice(_claims(text, grounds.sources), _MAX_SENTENCES):
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
    left = [read for read in cited if not _is_rejected(read, claim, grounds.rejected)]
    if not left:
        return (), REJECTED
    if question and len(keys(claim)) <= _SHORT:
        own = keys(claim) - keys(question)
        left = [read for read in left if 2 * len(own & keys(read.source.text)) >= len(own)]
        claim = f"{' '.join(search_words(question))}: {claim}"
    alone = [read.number for read in left if not lack(claim, [read.source.text])]
    if alone:
        return alone, ""
    reason = lack(claim, [read.source.text for read in left])
    return ((), reason) if reason else ([read.number for read in left], "")


def without(attempt: Attempt, unsupported: Collection[int]) -> Attempt:
    """Drop sentences by their numbers, from 1."""
    numbered = list(enumerate(attempt.sentences, 1))
    kept = tuple(sentence for number, sentence in numbered if number not in unsupported)
    gone = [without_citations(sentence) for number, sentence in numbered if number in unsupported]
    cited = {number for sentence in kept for number in _cited(sentence)}
    return replace(
        attempt,
        sentences=kept,
        cited=tuple(read for read in attempt.cited if read.number in cited),
        dropped=(*attempt.dropped, *(Dropped(one, "a model does not find it in its source") for one in gone)),
    )


def source_number(name: str) -> int | None:
    """Read ``3`` or ``[3]``; anything else names no source."""
    number = re.fullmatch(r"\[?([0-9]{1,6})\]?", name.strip())
    return int(number[1]) if number else None


def cited_sentences(text: str) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yield the sentences of an answer without their citations, and the numbers that each cites."""
    for written in text.splitlines():
        line = _BULLET.sub("", _MARKED.sub("", " ".join(written.split())))
        for sentence in split_sentences(_marked(line)):
            claim = " ".join(_MARKED.sub("", sentence).split())
            if claim.strip(".!?。 "):
                numbers = (int(match[1]) for match in _MARKED.finditer(sentence))
                yield claim, tuple(dict.fromkeys(numbers))


def without_citations(text: str) -> str:
    """Return a text without its citations, on one line."""
    return " ".join(_CITED.sub("", text).split())


def _claims(text: str, sources: Sequence[ReadSource]) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yield what an answer says and cites: a line that is one quote, else each of its sentences."""
    for written in text[:_MAX_CHARS].splitlines():
        line = " ".join(written.split())
        quote, numbers = without_citations(line), _cited(line)
        first = _CITED.search(line)
        is_cited_last = first is not None and line[: first.start()].rstrip(".!?。 ") == quote.rstrip(".!?。 ")
        cited = [sources[number - 1] for number in numbers if 0 < number <= len(sources)]
        if is_cited_last and any(holds(read.source.text, quote) for read in cited):
            yield quote, numbers
        else:
            yield from cited_sentences(line)


def _marked(line: str) -> str:
    """Move citations before the end of their sentence, as marks that are no end of a sentence."""
    line = _AFTER_END.sub(r"\2\1", line)
    return _CITED.sub(lambda match: "".join(map(_MARK.format, re.findall(r"\d+", match[1]))), line)


def _cited(text: str) -> tuple[int, ...]:
    numbers = (int(number) for match in _CITED.finditer(text) for number in re.findall(r"\d+", match[1]))
    return tuple(dict.fromkeys(numbers))


def _is_rejected(read: ReadSource, claim: str, rejected: Rejected) -> bool:
    """Whether a person rejected a claim; of the passage that said it, only its other sentences are kept."""
    is_reworded = read.source.hash in rejected.passages and not holds(read.source.text, claim)
    return is_reworded or is_rejected(claim, read.source, rejected)
