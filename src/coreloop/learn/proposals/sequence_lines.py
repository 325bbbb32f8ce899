"""The lines of sequences (Guides and caveats) as values: written, parsed and compared here only.

A proposals file and a docstring in a pull request are untrusted input. A line is accepted only if it parses
to a value that writes exactly this line, and the value fits its evidence.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, Literal

from coreloop.base.error_classes import CLASSES
from coreloop.learn.proposals.step import Step
from coreloop.learn.statements.line_sentences import CALL, NO_CATEGORY, OF_CATEGORY, ON_KEYWORDS, Language

ELIDED: Final = "…"
"""Placeholder for arguments that are not named."""
_NAME: Final = r"[^\W\d]\w{0,63}"
_ARGUMENT: Final = rf'(?:{_NAME}(?:="[^"]*"|=<{_NAME}>)?|{ELIDED})'  # company | axis="수익성" | axis=<axis>
_CALL: Final = rf"[^\W\d][\w.:/-]{{0,99}}\((?:{_ARGUMENT}(?:, {_ARGUMENT})*)?\)"
_CALLS: Final = rf"{_CALL}(?: -> {_CALL})*"
_NAMES: Final = rf"{_NAME}(?:(?:, {_NAME})* and {_NAME})?"
_DAYS: Final = r"([0-9]{4}-[0-9]{2}-[0-9]{2}) to ([0-9]{4}-[0-9]{2}-[0-9]{2})"
_SHARE: Final = r"[01]\.[0-9]{2}"
_COUNT: Final = r"[0-9]{1,10}"
_FAILED: Final = rf"({_COUNT}) of ({_COUNT}) calls failed \(({'|'.join(CLASSES)})\)"


@dataclass(frozen=True, slots=True)
class AdvisedCall:
    """A call in a line: the tool, and each argument with its value or None.

    A value is spelled as in the line: ``"수익성"`` with its quotes, or the placeholder ``<axis>``.
    """

    name: str
    arguments: tuple[tuple[str, str | None], ...] = ()

    def __str__(self) -> str:
        written = (name if value is None else f"{name}={value}" for name, value in self.arguments)
        return f"{self.name}({', '.join(written)})"

    def chosen(self) -> tuple[dict[str, str], tuple[str, ...]]:
        """The selectors with a value, and their order, as `coreloop.base.records.step` takes them."""
        chosen = {name: value.strip('"') for name, value in self.arguments if value and value.startswith('"')}
        return chosen, tuple(chosen)

    def fits(self, step: Step) -> bool:
        """Whether it contains only the tool, the arguments and the values of a recorded step."""
        return self.name == step.name and all(_fits(name, value, step) for name, value in self.arguments)


def _fits(name: str, value: str | None, step: Step) -> bool:
    if value is None:
        return name == ELIDED or name in step.arg_keys
    return name in step.selectors and value in {f'"{step.selectors[name]}"', f"<{name}>"}


def calls_fit(calls: Sequence[AdvisedCall], steps: Sequence[Step]) -> bool:
    """Whether calls match recorded steps, in order."""
    return len(calls) == len(steps) and all(call.fits(step) for call, step in zip(calls, steps, strict=True))


@dataclass(frozen=True, slots=True)
class When:
    """The questions that a Guide applies to; ``category`` is ``""`` for questions of no category."""

    category: str
    keywords: tuple[str, ...] = ()
    language: Language = "en"

    def __str__(self) -> str:
        wording = ON_KEYWORDS if self.keywords else OF_CATEGORY if self.category else NO_CATEGORY
        sentence = wording.sentence(self.language)
        return f"- {sentence.format(category=self.category, keywords=', '.join(self.keywords))}"

    def fits(self, category: str, keywords: Collection[str]) -> bool:
        """Whether it has this category, or none, and only keywords that coreloop.yaml has for it."""
        return self.category in {"", category} and set(self.keywords) <= set(keywords)


@dataclass(frozen=True, slots=True)
class AdvisedCalls:
    """The steps that a Guide recommends."""

    calls: tuple[AdvisedCall, ...]
    language: Language = "en"

    def __str__(self) -> str:
        return f"- {CALL.sentence(self.language).format(calls=' -> '.join(map(str, self.calls)))}"


@dataclass(frozen=True, slots=True, kw_only=True)
class GuideEvidence:
    """How often requests with a Guide's steps succeeded; days are ISO dates, shares have two decimals."""

    succeeded: int
    requests: int
    questions: int
    since: str
    until: str
    low: str
    base: str

    def __str__(self) -> str:
        return (
            f"- Evidence: {self.succeeded} of {self.requests} requests, {self.questions} distinct questions, "
            f"{self.since} to {self.until} (95 % lower bound {self.low}, category {self.base})."
        )


@dataclass(frozen=True, slots=True)
class Failures:
    """Failures among calls or requests; for calls, those of one error class."""

    failed: int
    of: int
    unit: Literal["calls", "requests"]
    error_class: str | None = None

    def __str__(self) -> str:
        return f"{self.failed} of {self.of} {self.unit} failed ({self.error_class})"


@dataclass(frozen=True, slots=True)
class FailsApart:
    """Calls that fail if arguments are missing, or given; ``otherwise`` counts all other calls."""

    lacking: bool
    names: tuple[str, ...]
    counts: Failures
    otherwise: tuple[int, int]

    def __str__(self) -> str:
        case, opposite = ("without", "with") if self.lacking else ("with", "without")
        pronoun = "it" if len(self.names) == 1 else "them"
        failed, of = self.otherwise
        rest = f"{opposite} {pronoun} {failed} of {of}"
        return f"- Fails: called {case} {_listed(self.names)}: {self.counts}; {rest}."


@dataclass(frozen=True, slots=True)
class FailsCall:
    """A call that fails; ``otherwise`` is None if the tool was never called with other arguments."""

    call: AdvisedCall
    counts: Failures
    otherwise: tuple[int, int] | None = None

    def __str__(self) -> str:
        rest = f"; called otherwise {self.otherwise[0]} of {self.otherwise[1]}" if self.otherwise else ""
        return f"- Fails: {self.call}: {self.counts}{rest}."


@dataclass(frozen=True, slots=True)
class FailsSequence:
    """Steps after which requests fail."""

    calls: tuple[AdvisedCall, ...]
    counts: Failures

    def __str__(self) -> str:
        steps, counts = " -> ".join(map(str, self.calls)), self.counts
        return f"- Fails: {steps}: {counts.of - counts.failed} of {counts.of} requests succeeded."


@dataclass(frozen=True, slots=True, kw_only=True)
class CaveatEvidence:
    """The period and the lower bound of a caveat; days are ISO dates, the share has two decimals."""

    since: str
    until: str
    low: str

    def __str__(self) -> str:
        return f"- Evidence: {self.since} to {self.until} (95 % lower bound of the failing share {self.low})."


Fails = FailsApart | FailsCall | FailsSequence
Line = When | AdvisedCalls | GuideEvidence | Fails | CaveatEvidence


def parse_line(line: str) -> Line | None:
    """Parse a line; None if coreloop does not write such a line."""
    for form, read in _FORMS.items():  # compiled at the first line, so that the guard starts sooner
        match = re.fullmatch(form, line)
        if match is not None:
            value = read(match)
            return value if str(value) == line else None
    return None


def _when(match: re.Match[str], language: Language = "en") -> When:
    plain, keywords, named = match.groups()
    return When(plain or named or "", tuple(keywords.split(", ")) if keywords else (), language)


def _guide_evidence(match: re.Match[str]) -> GuideEvidence:
    succeeded, requests, questions, since, until, low, base = match.groups()
    return GuideEvidence(
        succeeded=int(succeeded),
        requests=int(requests),
        questions=int(questions),
        since=since,
        until=until,
        low=low,
        base=base,
    )


def _fails_apart(match: re.Match[str]) -> FailsApart:
    without, names, failed, of, error_class, *otherwise = match.groups()
    counts = Failures(int(failed), int(of), "calls", error_class)
    return FailsApart(without == "without", tuple(re.split(r", | and ", names)), counts, _pair(otherwise))


def _fails_call(match: re.Match[str]) -> FailsCall:
    call, failed, of, error_class, *otherwise = match.groups()
    counts = Failures(int(failed), int(of), "calls", error_class)
    return FailsCall(_call(call), counts, _pair(otherwise) if otherwise[0] else None)


def _fails_sequence(match: re.Match[str]) -> FailsSequence:
    succeeded, requests = int(match[2]), int(match[3])
    return FailsSequence(_calls(match[1]), Failures(requests - succeeded, requests, "requests"))


def _caveat_evidence(match: re.Match[str]) -> CaveatEvidence:
    return CaveatEvidence(since=match[1], until=match[2], low=match[3])


def _pair(figures: Sequence[str]) -> tuple[int, int]:
    return int(figures[0]), int(figures[1])


def _calls(written: str) -> tuple[AdvisedCall, ...]:
    return tuple(map(_call, re.findall(_CALL, written)))  # a value may contain an arrow or a comma


def _call(written: str) -> AdvisedCall:
    name, _, rest = written.partition("(")
    pairs = (argument.partition("=") for argument in re.findall(_ARGUMENT, rest.removesuffix(")")))
    return AdvisedCall(name, tuple((key, value if sign else None) for key, sign, value in pairs))


def _listed(names: Iterable[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


_FORMS: Final[Mapping[str, Callable[[re.Match[str]], Line]]] = {
    r"- When: questions (?:of no category|of category (\S+)|on (.+) \(category (\S+)\))\.": _when,
    r"- 쓸 때: (?:분류 없는|(\S+) 분류의|(.+) 관련) 질문(?: \((\S+) 분류\))?\.": partial(
        _when, language="ko"
    ),
    rf"- Call: ({_CALLS})\.": lambda match: AdvisedCalls(_calls(match[1])),
    rf"- 호출: ({_CALLS})\.": lambda match: AdvisedCalls(_calls(match[1]), "ko"),
    rf"- Evidence: ({_COUNT}) of ({_COUNT}) requests, ({_COUNT}) distinct questions, {_DAYS} "
    rf"\(95 % lower bound ({_SHARE}), category ({_SHARE})\)\.": _guide_evidence,
    rf"- Fails: called (with(?:out)?) ({_NAMES}): {_FAILED}; "
    rf"with(?:out)? (?:it|them) ({_COUNT}) of ({_COUNT})\.": _fails_apart,
    rf"- Fails: ({_CALL}): {_FAILED}"
    rf"(?:; called otherwise ({_COUNT}) of ({_COUNT}))?\.": _fails_call,
    rf"- Fails: ({_CALLS}): ({_COUNT}) of ({_COUNT}) requests succeeded\.": _fails_sequence,
    rf"- Evidence: {_DAYS} \(95 % lower bound of the failing share ({_SHARE})\)\.": _caveat_evidence,
}
