"""Which word each value of a sentence belongs to: 매출 1,284억 and 영업이익 97억 must not change places."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Literal

from coreloop.answer.models.dates import Date, dates_agree, find_dates
from coreloop.answer.models.opposites import are_opposed, sides_of
from coreloop.answer.models.question_parts import is_korean
from coreloop.answer.research.findings import Unsupported
from coreloop.answer.research.quantities import Quantity, find_quantities, is_rounded
from coreloop.answer.research.word_lists import IGNORED
from coreloop.base.language.tables import PARTICLES
from coreloop.base.language.words import stems

_TOKEN: Final = re.compile(r"[가-힣]+|[^\W\d_가-힣]+")
_KOREAN_SPLIT: Final = re.compile(r"[,;·](?=\s|$)|(?:이고|고|며|으나|지만|는데|면서)(?=[\s,])")
_ENGLISH_SPLIT: Final = re.compile(
    r"[,;](?=\s|$)|\b(?:and|while|but|whereas|from|to|versus|vs|than|or|against)\b", re.IGNORECASE
)
_CLAUSE: Final = re.compile(
    r"[,;·](?=\s)|(?<=[가-힣])(?:이고|고|며|으나|지만|는데|면서)(?=[\s,])|\b(?:and|while|but|whereas)\b"
)
_OF: Final = re.compile(r"\s?[)]?의\s(?P<label>[^,;]{0,20}?[가-힣](?:과|와|을|를|이|은|는)(?=\s|,|$))")
_FROM: Final = re.compile(r"\bfrom\s(?:about\s|[$€£₩]\s?)?$", re.IGNORECASE)
_TO: Final = re.compile(r"\bto\s(?:about\s|[$€£₩]\s?)?$", re.IGNORECASE)
_AFTER_FROM: Final = re.compile(r"\s?(?:에서|부터|이던|였던)")
_AFTER_TO: Final = re.compile(r"\s?(?:으?로|까지)(?![가-힣])")
_KOREAN_LIST: Final = re.compile(
    r"(?<![가-힣A-Za-z])[가-힣A-Za-z]{1,20}?(?:(?:(?:와|과)\s|,\s|·|\s및\s)[가-힣A-Za-z]{1,20}?){1,9}"
    r"(?=(?:에서|에게|에|은|는|이|가|의|을|를)?\s)"
)
_ENGLISH_LIST: Final = re.compile(
    r"(?<!\w)[A-Z]\w{1,40}(?:,\s[A-Z]\w{1,40}){0,9},?\sand\s(?:the\s)?[A-Z]\w{1,40}"
)
_BETWEEN: Final = re.compile(r"(?:와|과)\s|,\s(?:and\s)?|·|\s및\s|\sand\s(?:the\s)?")
_BOUND: Final = re.compile(r"\s?[을를]?\s?(?:초과|넘)")
_RESPECTIVELY: Final = re.compile(r"각각|\brespectively\b", re.IGNORECASE)
_GRADE: Final = re.compile(r"(?<![A-Za-z+-])[A-D]{1,3}[+-](?![A-Za-z\d+-])")
_MAX_CHARS: Final = 2_000
"""Of a line; a longer one is no sentence, and comparing all its values would cost their square."""

SEVERAL: Final = "no one sentence or row of the quote says all of it; report one finding for each"
Label = str | Date


@dataclass(frozen=True, slots=True)
class _Value:
    """A value, and the words that stand by it; ``role`` is ``from`` or ``to`` in a pair."""

    value: Quantity | Date
    text: str
    labels: tuple[Label, ...]
    around: tuple[Label, ...]
    role: str
    is_bound: bool


def find_exchange(claim: str, quote: str) -> Unsupported | None:
    """Find what a claim says of something else than a sentence, row or item does.

    Parameters
    ----------
    claim, quote : str
        A sentence each; the quote has all values of the claim.

    Returns
    -------
    Unsupported or None
        A value that belongs to another word, a pair in the other order, the opposite of a word, or
        two things that are compared the other way.
    """
    if len(quote) > _MAX_CHARS:
        return Unsupported("words", SEVERAL)
    rules = (_double_denial, _no_plan, _other_grade, _other_label, _turned, _opposite)
    return next(filter(None, (rule(claim, quote) for rule in rules)), None)


_TWICE_DENIED: Final = re.compile(
    r"(?:않|못한|없)[가-힣]{0,6}\s?(?:것은|것이|건|게)\s?아니|없지\s?(?:는\s?)?않|않지\s?않"
)
_PLANNED: Final = re.compile(
    r"검토|예정|계획|전망|예상|추진|가능성|만약|만일|\b(?:may|might|could|if|unless|plan(?:s|ned|ning)?\sto"
    r"|expect(?:s|ed)?|consider(?:s|ed|ing)?|propos\w+|forecasts?|likely)\b",
    re.IGNORECASE,
)


def _double_denial(claim: str, quote: str) -> Unsupported | None:
    if _TWICE_DENIED.search(claim) and not _TWICE_DENIED.search(quote):
        return Unsupported("negation", "the sentence denies twice what the quote denies once")
    return None


def _no_plan(claim: str, quote: str) -> Unsupported | None:
    """What is only planned, expected or the case on a condition, said as a fact."""
    clauses = _clauses(quote)
    likeness = [_likeness(claim, clause) for clause in clauses]
    nearest = [clause for clause, score in zip(clauses, likeness, strict=True) if score == max(likeness)]
    planned = [match for clause in nearest if (match := _PLANNED.search(clause))]
    if len(planned) == len(nearest) and not _PLANNED.search(claim):
        return _instead("label", claim, planned[0][0])
    return None


def _other_grade(claim: str, quote: str) -> Unsupported | None:
    known = _GRADE.findall(quote)
    other = [grade for grade in _GRADE.findall(claim) if known and grade not in known]
    return _instead("label", other[0], known[0]) if other else None


def _instead(missing: Literal["label", "opposite"], what: str, said: str) -> Unsupported:
    template = "the quote does not say {what}, but {said}"
    if missing == "opposite":
        template = "the quote says the opposite of {what}: {said}"
    return Unsupported(missing, template.format(what=what, said=said))


def _other_label(claim: str, quote: str) -> Unsupported | None:
    said = _values(quote)
    for value in _values(claim):
        places = [place for place, other in enumerate(said) if _same(value.value, other.value)]
        if len(places) != 1:
            continue
        own = said[places[0]]
        if own.is_bound and not value.is_bound and not any(side.kind == "bound" for side in sides_of(claim)):
            return _instead("label", value.text, f"{own.text}+")
        if own.is_bound:
            continue
        roles = {value.role, own.role}
        if roles == {"from", "to"}:
            return _instead("label", _with_role(value, claim), _with_role(own, quote))
        for place, other in enumerate(said):
            if (
                place != places[0]
                and _are_alike(value, other)
                and (label := _closer(value, own, other, is_first=place == 0))
            ):
                word = _written(label, claim)
                return _instead("label", f"{word} {value.text}", f"{word} {other.text}")
    return None


def _written(stem: str, text: str) -> str:
    """The word of a text that has a stem: revenue of revenu; of Korean, the stem without its particle."""
    words = (word for word in _TOKEN.findall(text) if word.isascii() and stem in stems(word))
    return next(words, stem)


def _with_role(value: _Value, text: str) -> str:
    if is_korean(text):
        return f"{value.text}{'에서' if value.role == 'from' else '(으)로'}"
    return f"{value.role} {value.text}"


def _are_alike(value: _Value, other: _Value) -> bool:
    """Whether two values could be exchanged: their units do not differ."""
    units = {one.value.unit for one in (value, other) if isinstance(one.value, Quantity)} - {""}
    return len(units) < 2 and not other.is_bound


def _same(claimed: Quantity | Date, said: Quantity | Date) -> bool:
    if isinstance(claimed, Date) and isinstance(said, Date):
        return dates_agree(claimed, said)
    return isinstance(claimed, Quantity) and isinstance(said, Quantity) and is_rounded(claimed, said)


def _closer(value: _Value, own: _Value, other: _Value, *, is_first: bool) -> str:
    """Return the label of another value, if a claimed one is nearer to it than to its own."""
    shared = {label for label in own.labels if _has(other.labels, label)}
    mine = [label for label in own.labels if label not in shared]
    theirs = [label for label in other.labels if not _has(own.labels, label)]
    rest = own if is_first else other
    contrary = own if rest is other else other
    kinds = {isinstance(label, Date) for label in rest.labels if not _has(contrary.labels, label)}
    mine = [label for label in mine if isinstance(label, Date) in kinds]
    theirs = [label for label in theirs if isinstance(label, Date) in kinds]
    hits = [label for label in theirs if _has(value.around, label)]
    if not hits or (is_first and not _has(value.around, theirs[-1])):
        return ""
    good = sum(_has(value.around, label) for label in mine) / len(mine) if mine else 0.0
    return _shown(hits[-1]) if len(hits) / len(theirs) > good else ""


def _has(labels: Sequence[Label], label: Label) -> bool:
    if isinstance(label, Date):
        return any(isinstance(one, Date) and dates_agree(one, label) for one in labels)
    return label in labels


def _shown(label: Label) -> str:
    return label if isinstance(label, str) else label.shown


def _values(text: str) -> list[_Value]:
    """The amounts of a sentence with what stands by each; the dates, if it has no amounts."""
    dates = find_dates(text)
    masked = text
    for _, start, end in dates:
        masked = masked[:start] + " " * (end - start) + masked[end:]
    amounts: list[tuple[Quantity | Date, int, int]] = [*find_quantities(masked)]
    spans = amounts or [*dates]
    if not spans:
        return []
    labels = [
        (_labels(text, dates, amounts, *pre), _labels(text, dates, amounts, *post))
        for pre, post in _gaps(text, spans)
    ]
    is_before = any(pre for pre, _ in labels[1:]) or not any(post for _, post in labels)
    named = _respective(text, len(spans))
    return [
        _Value(
            value,
            text[start:end].strip(),
            named[place] if named else (pre if is_before else post),
            named[place] if named else (*pre, *post),
            _role(text, start, end),
            _BOUND.match(text, end) is not None,
        )
        for place, ((value, start, end), (pre, post)) in enumerate(zip(spans, labels, strict=True))
    ]


def _gaps(
    text: str, spans: Sequence[tuple[Quantity | Date, int, int]]
) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """What stands before and after each value, as places of the text."""
    splits = [_split(text, one[2], other[1]) for one, other in pairwise(spans)]
    for place, (_, start, end) in enumerate(spans):
        before = splits[place - 1][1] if place else 0
        after = splits[place][0] if place < len(splits) else len(text)
        if is_korean(text) and place == len(splits):
            of = _OF.match(text, end)
            after = of.end() if of else len(text)
        yield (before, start), (end, after)


def _split(text: str, start: int, end: int) -> tuple[int, int]:
    """Return where what belongs to a value ends, and what belongs to the next one begins."""
    gap = text[start:end]
    of = _OF.match(gap)
    if is_korean(text):
        match = _KOREAN_SPLIT.search(gap)
        if match:
            return start + match.end(), start + match.end()
        return (start + of.end(), start + of.end()) if of else (start, start)
    match = _ENGLISH_SPLIT.search(gap)
    return (start + match.start(), start + match.start()) if match else (end, start)


def _labels(
    text: str,
    dates: Sequence[tuple[Date, int, int]],
    amounts: Sequence[tuple[Quantity | Date, int, int]],
    start: int,
    end: int,
) -> tuple[Label, ...]:
    found: list[tuple[int, Label]] = [(at, date) for date, at, _ in dates if start <= at < end]
    taken = [*((at, to) for _, at, to in dates), *((at, to) for _, at, to in amounts)]
    found += [(at, word) for at, word in _stems(text, start, end) if not any(a <= at < b for a, b in taken)]
    return tuple(label for _, label in sorted(found, key=lambda one: one[0]))


def _words(text: str, start: int, end: int) -> tuple[Label, ...]:
    return tuple(word for _, word in _stems(text, start, end))


def _stems(text: str, start: int, end: int) -> Iterator[tuple[int, str]]:
    moving = [side for side in sides_of(text) if side.kind in {"direction", "bound"}]
    for match in _TOKEN.finditer(text, start, end):
        is_particle = match[0] in PARTICLES and match.start() and not text[match.start() - 1].isspace()
        if not is_particle and not any(
            side.start < match.end() and match.start() < side.end for side in moving
        ):
            yield from ((match.start(), word) for word in stems(match[0]) if word not in IGNORED)


def _role(text: str, start: int, end: int) -> str:
    if _AFTER_FROM.match(text, end) or _FROM.search(text, 0, start):
        return "from"
    return "to" if _AFTER_TO.match(text, end) or _TO.search(text, 0, start) else ""


def _respective(text: str, count: int) -> list[tuple[Label, ...]]:
    """The names of a list that has as many as the values after it: A와 B는 각각 1과 2."""
    if not _RESPECTIVELY.search(text):
        return []
    for match in (_KOREAN_LIST if is_korean(text) else _ENGLISH_LIST).finditer(text):
        names = _BETWEEN.split(match[0])
        if len(names) == count:
            return [tuple(stems(name)) for name in names]
    return []


def _turned(claim: str, quote: str) -> Unsupported | None:
    """Two things that are compared, or do something to each other, the other way round."""
    here, there = _pair(claim), _pair(quote)
    is_straight = _are_of(here, there)
    is_opposed = are_opposed(claim, quote) or bool(_PASSIVE.search(claim)) != bool(_PASSIVE.search(quote))
    if _are_of(here, there[::-1]) and not is_straight and not is_opposed:
        return _instead("label", " → ".join(map(" ".join, here)), " → ".join(map(" ".join, there)))
    return None


_COMPARED: Final = re.compile(
    r"^(?:the\s)?(?P<one>.{1,80}?)\s(?:is|are|was|were|has|have)\s.{0,80}?\bthan\s(?P<other>.+)",
    re.IGNORECASE,
)
_ROLES: Final = re.compile(
    r"(?<![가-힣A-Za-z])(?P<one>[가-힣A-Za-z]{2,30}?)(?:은|는|이|가)\s(?P<other>[가-힣A-Za-z]{2,30}?)(?:보다|에게서|에게|에|를|을|으로부터|로부터)\s"
)
_PASSIVE: Final = re.compile(r"당했|당하|받았|받는|됐|되었|되는|\b(?:was|were|is|are|been)\s\w+ed\b")


def _pair(text: str) -> tuple[list[str], ...]:
    """The words of two things that are compared, or one of which does something to the other; else none."""
    match = _ROLES.search(text) if is_korean(text) else _COMPARED.search(text)
    if match is None:
        return ()
    one, other = stems(match["one"]), stems(match["other"])
    return [word for word in one if word not in other], [word for word in other if word not in one]


def _are_of(here: Sequence[Sequence[str]], there: Sequence[Sequence[str]]) -> bool:
    """Whether two pairs share a word in each of their places."""
    both = zip(here, there, strict=False)
    return bool(here and there) and all(set(one) & set(other) for one, other in both)


def _opposite(claim: str, quote: str) -> Unsupported | None:
    clauses = _clauses(quote)
    for side in sides_of(claim):
        part = _clause_at(claim, side.start)
        scored = [
            (_likeness(part, clause), other)
            for clause in clauses
            for other in sides_of(clause)
            if other.kind == side.kind
        ]
        if not scored:
            if side.kind == "direction" and not side.is_denied:
                return Unsupported("label", f"the quote does not say {side.text}")
            continue
        best = max(score for score, _ in scored)
        nearest = [other for score, other in scored if score == best]
        is_turned = side.kind == "size" and _are_of(_pair(claim), _pair(quote)[::-1])
        if not any(side.agrees(other) for other in nearest) and not is_turned:
            return _instead("opposite", side.text, nearest[0].text)
    return None


def _clauses(text: str) -> list[str]:
    ends = [match.end() for match in _CLAUSE.finditer(text)]
    return [text[start:end] for start, end in zip([0, *ends], [*ends, len(text)], strict=True)]


def _clause_at(text: str, place: int) -> str:
    start = max((match.end() for match in _CLAUSE.finditer(text) if match.end() <= place), default=0)
    end = min((match.end() for match in _CLAUSE.finditer(text) if match.start() >= place), default=len(text))
    return text[start:end]


def _likeness(claim: str, clause: str) -> int:
    amounts = [amount for amount, _, _ in find_quantities(clause)]
    values = sum(any(is_rounded(own, other) for other in amounts) for own, _, _ in find_quantities(claim))
    return 3 * values + len(set(_words(claim, 0, len(claim))) & set(_words(clause, 0, len(clause))))
