"""Whether the sources say what a model wrote: citations that exist, and texts that say the sentence."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from coreloop.answer.models.contracts import ReportedFinding
from coreloop.answer.models.offline import without_notice
from coreloop.answer.repair.tables import NOTHING, Rejected
from coreloop.answer.research.best_passages import is_rejected
from coreloop.answer.research.findings import UNCERTAIN, Finding, Provenance
from coreloop.answer.research.research_state import Dropped, Knowledge, ReadSource
from coreloop.answer.text.claims import holds, lack
from coreloop.answer.text.sentences import split_sentences
from coreloop.answer.text.terms import keys, search_words
from coreloop.runs.state import SubQuestion

NO_EVIDENCE: Final = "No evidence found."
UNCITED: Final = "cites no source"
REJECTED: Final = "a person rejected it as an answer"
"""Why a sentence without a citation, and one that a person rejected, is dropped."""
_MAX_CHARS: Final = 100_000
_MAX_SENTENCES: Final = 300
"""Of an answer; what follows is left out."""
_MAX_REPORTED: Final = 50
"""Findings of a reply."""
_SHORT: Final = 3
"""Words up to which a sentence is read with the question: ``1 MB``, ``Seven attempts.``"""
_MAX_COMPUTED: Final = 2
"""Sources that are named for a sentence that names none itself."""
_MAX_CITED: Final = 10
"""Sources of a sentence."""
_CITED: Final = re.compile(r"(?<!\s)\s*\[(\d{1,6}(?:\s*,\s*\d{1,6})*)\]")  # " [3]" and "[1, 2]"
_CITATION: Final = re.compile(r"\[\d[\d,\s]*\]")
_AFTER_END: Final = re.compile(r"([.!?。！？…][\"'”’)]*)((?:\s*\[\d[\d,\s]*\])+)")  # "… rose. [3]"
_MARK: Final = "\ue000{}\ue001"
_MARKED: Final = re.compile("\ue000(\\d+)\ue001")
_BULLET: Final = re.compile(r"^\s*(?:[-*•]|\d{1,2}[.)])\s+")


@dataclass(frozen=True, slots=True)
class CheckedAnswer:
    """The sentences that their sources support.

    Attributes
    ----------
    sentences : tuple of str
        With their citations, ``… [2]``.
    cited : tuple of int
        Numbers of the sources, in the order of their first citation.
    dropped : tuple of Dropped
        What was left out.
    """

    sentences: tuple[str, ...]
    cited: tuple[int, ...]
    dropped: tuple[Dropped, ...] = ()


def check_answer(
    text: str,
    knowledge: Knowledge,
    *,
    named: Sequence[int] = (),
    question: str = "",
    rejected: Rejected = NOTHING,
) -> CheckedAnswer:
    """Keep the sentences of an answer that a source supports, each with the number of that source.

    Parameters
    ----------
    text : str
        Of a model: untrusted.
    knowledge : Knowledge
        Whose sources the numbers mean.
    named : sequence of int
        The sources of sentences that cite none themselves.
    question : str
        Read with a sentence that is too short to say what it is about.
    rejected : Rejected
        What is never kept.
    """
    kept: list[str] = []
    cited: dict[int, None] = {}
    dropped: list[Dropped] = []
    for claim, numbers in islice(cited_claims(without_notice(text), knowledge), _MAX_SENTENCES):
        supporting, reason = _supporting(claim, numbers or named, knowledge, question, rejected=rejected)
        if supporting:
            supporting = supporting if numbers else supporting[:_MAX_COMPUTED]
            kept.append(f"{claim} {''.join(f'[{number}]' for number in supporting)}")
            cited |= dict.fromkeys(supporting)
        else:
            dropped.append(Dropped(claim, reason))
    return CheckedAnswer(tuple(dict.fromkeys(kept)), tuple(cited), tuple(dropped))


def without(checked: CheckedAnswer, numbers: Sequence[int]) -> CheckedAnswer:
    """Drop sentences by their numbers, from 1."""
    kept, dropped = [], list(checked.dropped)
    for number, sentence in enumerate(checked.sentences, 1):
        if number in numbers:
            dropped.append(Dropped(without_citations(sentence), "a model does not find it in its source"))
        else:
            kept.append(sentence)
    cited = dict.fromkeys(number for sentence in kept for number in _cited(sentence))
    return CheckedAnswer(tuple(kept), tuple(cited), tuple(dropped))


def check_findings(
    reported: Iterable[ReportedFinding],
    knowledge: Knowledge,
    parts: Sequence[SubQuestion],
    *,
    iteration: int,
    rejected: Rejected = NOTHING,
) -> tuple[list[Finding], list[Dropped]]:
    """Turn what a model reported into findings, still to be rated, and what no source supports."""
    found: list[Finding] = []
    dropped: list[Dropped] = []
    known = {hypothesis.id for hypothesis in knowledge.all_hypotheses}
    for finding in islice(reported, _MAX_REPORTED):
        claim, numbers = without_citations(finding.text), _numbers(finding.sources)
        supporting, reason = _supporting(claim, numbers, knowledge, rejected=rejected)
        if not supporting:
            dropped.append(Dropped(claim, reason))
            continue
        found.append(
            Finding(
                text=claim,
                sources=tuple(supporting),
                confidence=0.0,
                tag=UNCERTAIN,
                hypothesis_id=finding.hypothesis_id if finding.hypothesis_id in known else None,
                iteration=iteration,
                answers=_answered(finding.answers, parts),
            )
        )
    return found, dropped


def evidence_of(finding: Finding, knowledge: Knowledge) -> list[Provenance]:
    """Return what the sources of a finding bring to it."""
    sources = (knowledge.source(number) for number in finding.sources)
    return [
        Provenance(number=read.number, origin=read.origin, type=read.source.type) for read in sources if read
    ]


def cited_claims(text: str, knowledge: Knowledge) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yield what an answer says and cites: a line that is one quote, else each of its sentences."""
    for written in text[:_MAX_CHARS].splitlines():
        line = " ".join(written.split())
        quote, numbers = without_citations(line), _cited(line)
        sources = [read for number in numbers if (read := knowledge.source(number))]
        is_cited_once = _CITED.search(_without_last(line)) is None
        if is_cited_once and any(_quotes(read, quote) for read in sources):
            yield quote, numbers
        else:
            yield from cited_sentences(line)


def cited_sentences(text: str) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yield the sentences of an answer without their citations, and the numbers that each cites."""
    for written in text.splitlines():
        line = _BULLET.sub("", _MARKED.sub("", " ".join(written.split())))
        for sentence in split_sentences(_marked(line)):
            claim = " ".join(_MARKED.sub("", sentence).split())
            if claim.strip(".!?。 "):
                numbers = (int(match[1]) for match in _MARKED.finditer(sentence))
                yield claim, tuple(dict.fromkeys(numbers))


def _marked(line: str) -> str:
    """Move citations before the end of their sentence, as marks that are no end of a sentence."""
    line = _AFTER_END.sub(r"\2\1", line)
    return _CITED.sub(lambda match: "".join(map(_MARK.format, re.findall(r"\d+", match[1]))), line)


def _without_last(line: str) -> str:
    """Cut the citations at the end of a line without runs of spaces: ``… rose [3] [4].``."""
    end = whole = len(line.rstrip(" .!?。"))
    while (begin := line.rfind("[", 0, end)) >= 0 and _CITATION.fullmatch(line, begin, end):
        end = begin - (line[begin - 1 : begin] == " ")
    return line[:end] if end < whole else line


def _cited(text: str) -> tuple[int, ...]:
    numbers = (int(number) for match in _CITED.finditer(text) for number in re.findall(r"\d+", match[1]))
    return tuple(dict.fromkeys(numbers))


def without_citations(text: str) -> str:
    """Return a text without its citations, on one line."""
    return " ".join(_CITED.sub("", text).split())


def _numbers(sources: Iterable[str]) -> tuple[int, ...]:
    """Read ``[3]`` or ``3``; anything else names no source."""
    found = (re.fullmatch(r"\[?(\d{1,6})\]?", source.strip()) for source in sources)
    return tuple(dict.fromkeys(int(match[1]) for match in found if match))


def _supporting(
    claim: str, numbers: Sequence[int], knowledge: Knowledge, question: str = "", *, rejected: Rejected
) -> tuple[list[int], str]:
    """Return the cited sources that say a claim, each alone or else together, or why they do not."""
    if not numbers:
        return [], UNCITED
    cited = [read for number in numbers[:_MAX_CITED] if (read := knowledge.source(number))]
    if not cited:
        named = ", ".join(f"[{number}]" for number in numbers[:_MAX_CITED])
        return [], f"cites {named}, which does not exist"
    kept = [read for read in cited if not _is_rejected(read, claim, rejected)]
    if not kept:
        return [], REJECTED
    is_short = bool(question) and len(keys(claim)) <= _SHORT
    said = f"{' '.join(search_words(question))}: {claim}" if is_short else claim
    # the question's words are no evidence: a sentence that is read with it must bring half of its own
    own = keys(claim) - keys(question) if is_short else frozenset[str]()
    sources = [read for read in kept if 2 * len(own & keys(read.source.text)) >= len(own)]
    alone = [read.number for read in sources if not lack(said, [read.source.text])]
    if alone:
        return alone, ""
    reason = lack(said, [read.source.text for read in sources])
    return ([], reason) if reason else ([read.number for read in sources], "")


def _is_rejected(read: ReadSource, claim: str, rejected: Rejected) -> bool:
    """Whether a person rejected a claim; of the passage that said it, only its other sentences are kept."""
    is_reworded = read.source.hash in rejected.passages and not _quotes(read, claim)
    return is_reworded or is_rejected(claim, read.source, rejected)


def _quotes(read: ReadSource, claim: str) -> bool:
    return holds(read.source.text, claim)


def _answered(named: Sequence[str], parts: Sequence[SubQuestion]) -> tuple[str, ...]:
    """Return the ids of the sub-questions that a finding names by id or text."""
    ids = {part.text: part.id for part in parts} | {part.id: part.id for part in parts}
    return tuple(dict.fromkeys(ids[name] for name in named if name in ids))
