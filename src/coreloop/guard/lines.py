"""Whether appended lines are what coreloop writes: closed forms, known words, and the trailers' figures."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from coreloop.project.settings import Settings
from coreloop.proposals.grammar import Call, Failing, read_calls, read_failing, read_when
from coreloop.records import is_category
from coreloop.text import printable, refuse_form

_DAYS: Final = r"\d{4}-\d\d-\d\d to \d{4}-\d\d-\d\d"
_SHARE: Final = r"[01]\.\d\d"
_WORD: Final = re.compile(r"[\w-]{1,40}")
_GUIDE_EVIDENCE: Final = re.compile(
    rf"- Evidence: ((\d{{1,10}}) of (\d{{1,10}}) requests), (\d{{1,10}}) distinct questions, {_DAYS} "
    rf"\(95 % lower bound ({_SHARE}), category {_SHARE}\)\.",
    re.ASCII,
)
_CAVEAT_EVIDENCE: Final = re.compile(
    rf"- Evidence: {_DAYS} \(95 % lower bound of the failing share ({_SHARE})\)\.", re.ASCII
)


@dataclass(frozen=True, slots=True)
class Words:
    """What the base declares: its coreloop.yaml, and the text of the file that is edited."""

    settings: Settings
    source: str

    def declares(self, value: str) -> bool:
        """Whether a selector's value may be written; one that nobody declared must at least be one word."""
        quoted = any(f"{quote}{value}{quote}" in self.source for quote in "\"'")
        return quoted or value in self.settings.axis_slugs or _WORD.fullmatch(value) is not None


def refuse_lines(lines: Sequence[str], trailers: Mapping[str, str], words: Words) -> Iterator[str]:
    """Why lines are not those of the promotion that the trailers tell of; nothing when they are.

    Parameters
    ----------
    lines : sequence of str
        Without indentation.
    trailers : mapping of str to str
        Of the commit, complete.
    words : Words
        What the base declares.
    """
    for number, line in enumerate(lines, start=1):
        if reason := refuse_form(line):
            yield f"line {number} is none that coreloop writes: {reason}"
            return
    refuse = _refuse_guide if trailers["Phase"] == "R" else _refuse_caveat
    yield from refuse(lines, trailers, words)


def _refuse_guide(lines: Sequence[str], trailers: Mapping[str, str], words: Words) -> Iterator[str]:
    """When, Call, Evidence; the first two may be there already, from an earlier promotion."""
    kinds = [_guide_kind(line) for line in lines]
    evidence = _GUIDE_EVIDENCE.fullmatch(lines[-1])
    if evidence is None or kinds != [one for one in ("when", "call", "evidence") if one in kinds]:
        yield "the lines are not the When, Call and Evidence of a Guide"
        return
    for line in lines:
        yield from _refuse_when(line, words)
        yield from _refuse_values(read_calls(line) or (), words)
    yield from _refuse_guide_figures(evidence, trailers)


def _guide_kind(line: str) -> str:
    if read_when(line) is not None:
        return "when"
    if read_calls(line) is not None:
        return "call"
    return "evidence" if _GUIDE_EVIDENCE.fullmatch(line) else "other"


def _refuse_when(line: str, words: Words) -> Iterator[str]:
    category, keywords = read_when(line) or ("", ())
    if category and not is_category(category):
        yield f"{printable(category)} is no label of a category"
    strange = set(keywords) - set(words.settings.keywords(category))
    if strange:
        yield f"{printable(min(strange))} is no keyword of {printable(category)} in coreloop.yaml"


def _refuse_values(calls: Iterable[Call], words: Words) -> Iterator[str]:
    for call in calls:
        for name, value in call.arguments:
            if value is not None and value != f"<{name}>" and not words.declares(value.strip('"')):
                yield f"{printable(value)} is no value that coreloop.yaml or the source declares"


def _refuse_guide_figures(evidence: re.Match[str], trailers: Mapping[str, str]) -> Iterator[str]:
    share, succeeded, observed, questions, low = evidence.groups()
    said = {"Evidence": f"{share}, lower bound {low}", "Observed": observed, "Unique-Questions": questions}
    yield from _refuse_figures(said, trailers)
    if not _is_rate(trailers["Success-Rate"], int(succeeded), int(observed)):
        yield f"the trailer Success-Rate does not fit {share}"


def _refuse_caveat(lines: Sequence[str], trailers: Mapping[str, str], words: Words) -> Iterator[str]:
    """What fails, and the evidence."""
    failing = read_failing(lines[0])
    evidence = _CAVEAT_EVIDENCE.fullmatch(lines[-1])
    if failing is None or evidence is None or len(lines) != 2:
        yield "the lines are not the Fails and Evidence of a caveat"
        return
    yield from _refuse_values(failing.calls, words)
    yield from _refuse_caveat_figures(failing, evidence[1], trailers)


def _refuse_caveat_figures(failing: Failing, low: str, trailers: Mapping[str, str]) -> Iterator[str]:
    share = f"{failing.failed} of {failing.of} {failing.unit}"
    said = {
        "Evidence": f"{share} failed, lower bound {low}",
        "Observed": str(failing.of),
        "Unique-Questions": "not-applicable",
    }
    yield from _refuse_figures(said, trailers)
    if not _is_rate(trailers["Success-Rate"], failing.of - failing.failed, failing.of):
        yield f"the trailer Success-Rate does not fit {share}"


def _refuse_figures(said: Mapping[str, str], trailers: Mapping[str, str]) -> Iterator[str]:
    for name, value in said.items():
        if trailers[name] != value:
            yield f"the trailer {name} is {printable(trailers[name])}, but the lines say {value}"


def _is_rate(written: str, succeeded: int, observed: int) -> bool:
    """Whether a rate of three decimals, times what was observed, is that count."""
    if not re.fullmatch(r"[01]\.\d{3}", written, re.ASCII):
        return False
    return abs(float(written) * observed - succeeded) <= 0.5 + 0.0005 * observed
