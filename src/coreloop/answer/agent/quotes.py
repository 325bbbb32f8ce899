"""What the place says that a quote was cut from: its sentences, rows and items, each for itself."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from coreloop.answer.agent.spelling import one_spelling, one_style, without_blanks, without_particles
from coreloop.answer.agent.swapped_values import SEVERAL, find_exchange
from coreloop.answer.models.dates import find_dates, split_dates
from coreloop.answer.models.opposites import in_one_word
from coreloop.answer.models.question_parts import is_korean
from coreloop.answer.models.sentences import split_sentences
from coreloop.answer.research.claim import read_statement
from coreloop.answer.research.findings import Supported, Unsupported
from coreloop.answer.research.quantities import find_quantities
from coreloop.answer.research.support import check_support
from coreloop.base.language.words import is_hangul

_PROSE_CHARS: Final = 35
"""A shorter line that does not end in the middle of a phrase is no wrapped prose."""
_ITEM: Final = re.compile(r"\s*(?:[-*+#>|•·▪○●◦]|\(?\d{1,3}[.)]\s|\(?[가-하a-z][.)]\s)")
_ROW: Final = re.compile(r"\||\t|\S {2,}\S")  # a | b; a<tab>b
_CSV: Final = re.compile(r"[^\s,]+(?:,[^\s,]+){2,}")  # Han,494,26219
_IN_BRACKETS: Final = re.compile(r"[(\[]\s*(?:단위\s*(?::\s*)?)?(?P<unit>[^()\[\]]{1,12})[)\]]")
_CONTINUES: Final = re.compile(r"\s*[a-z,;)]")
_UNFINISHED: Final = re.compile(
    r"""(?: [,;(–-] | \b(?:an?|the|of|and|or|in|on|at|to|by|for|from|with|as|is|was|that|which)
      | [가-힣](?:고|며|면|서|은|는|을|를|의|에|로|와|과|이|가|도) )\s*$""",
    re.VERBOSE,
)
_DIGIT: Final = re.compile(r"\d")
_REFERS: Final = re.compile(
    r"(?:It|They|This|These|That|Those|He|She|Its|Their|His|Her|이는|이것|그것|그는|그녀|이들|그들|이 |그 )"
)
_FULL_STOP: Final = re.compile(r"[.!?。][\"'”’)]*\Z")
_SUPERLATIVES: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"(?<![가-힣])(?:가장|제일)(?![가-힣])|최(?:대|고|장|다|소|저|단)|\bmost\b|\bleast\b|\b\w{3,}est\b",
        r"최초|(?<![가-힣])(?:첫|처음)|\bfirst\b|\bearliest\b|\boldest\b|가장 (?:오래|먼저|이른)",
        r"유일|(?<![가-힣])오직|\bonly\b|\bsole(?:ly)?\b",
        r"(?<![가-힣])(?:모든|모두|항상|언제나)(?![가-힣])|\b(?:all|every|always)\b",
    )
)
"""What a finding says only if its quote says it, too: the most, the first, the only one, all."""
_KOREAN_SHARE: Final = 0.7
"""Of a Korean finding's letters, in one sentence; 0.67 believes "rises in Seoul" of "flows through Seoul"."""
_ALL_THERE: Final = 0.9
"""Share of a claim's letters from which their order does not matter; the values' order is checked before."""


@dataclass(frozen=True, slots=True)
class _Unit:
    """A sentence, a row or an item on one line; ``block`` is the paragraph that it is a part of."""

    text: str
    block: int
    is_row: bool


def holds(text: str, quote: str) -> bool:
    """Whether a text has a quote word for word; blanks do not matter."""
    return bool(quote) and without_blanks(quote) in without_blanks(text)


def check_quote(claim: str, quote: str, texts: Sequence[str]) -> Supported | Unsupported:
    """Check whether the places that a quote was cut from say what a claim says.

    A number, a date and what it is about stand in one sentence, row or item; a quote that is cut takes
    nothing from the rows beside it. What a whole paragraph denies is denied.

    Parameters
    ----------
    claim : str
        A finding on one line.
    quote : str
        On one line.
    texts : sequence of str
        Of the sources that have the quote.
    """
    plain = _plain(claim)
    places = [_quoted(text, quote) for text in texts]
    for block in (block for place in places for block in place.blocks):
        checked = check_support(plain, [block])
        if isinstance(checked, Unsupported) and checked.missing == "negation":
            return checked
    parts = split_sentences(plain) or [plain]
    checks = [_check_part(part, place.units, place.headings) for place in places for part in parts]
    return next((one for one in checks if isinstance(one, Unsupported)), Supported(1.0))


@dataclass(frozen=True, slots=True)
class _Quoted:
    """Where a quote stands: its units with what they refer to, and their paragraphs."""

    units: list[str]
    blocks: list[str]
    headings: list[str]


def _quoted(text: str, quote: str) -> _Quoted:
    units = list(_units(text))
    plain = without_blanks(quote)
    start = without_blanks(" ".join(unit.text for unit in units)).find(plain)
    at, places = 0, []
    for place, unit in enumerate(units):
        own = without_blanks(unit.text)
        is_apart = place and own and not is_hangul(own[0]) and not is_hangul(units[place - 1].text[-1])
        at += bool(is_apart)
        if at < start + len(plain) and at + len(own) > start:
            places.append(place)
        at += len(own)
    blocks = dict.fromkeys(units[place].block for place in places if not units[place].is_row)
    return _Quoted(
        [_plain(said) for place in places for said in _said(units, place)],
        [_plain(" ".join(unit.text for unit in units if unit.block == block)) for block in blocks],
        list(_headings(units[: places[-1]] if places else ())),
    )


def _headings(units: Sequence[_Unit]) -> Iterator[str]:
    """The title of a text and the nearest heading, without amounts."""
    headings = [unit.text.lstrip("# ") for unit in units if unit.text.startswith("#")]
    for heading in dict.fromkeys([*headings[:1], *headings[-1:]]):
        text = masked = one_spelling(heading)
        for _, start, end in find_dates(text):
            masked = masked[:start] + " " * (end - start) + masked[end:]
        for _, start, end in reversed(find_quantities(masked)):
            text = text[:start] + text[end:]
        yield text


def _check_part(part: str, units: Sequence[str], headings: Sequence[str]) -> Supported | Unsupported:
    """One unit says it; fragments such as cells on their own lines do together, a value after its name."""
    checks = [_check_below(part, unit, headings) for unit in units]
    if len(units) < 2 or any(isinstance(one, Supported) for one in checks):
        return next((one for one in checks if isinstance(one, Supported)), checks[0])
    together = _check(part, _joined(units))
    with_values = [place for place, unit in enumerate(units) if _has_value(unit)]
    are_fragments = not any(_FULL_STOP.search(unit) for unit in units[:-1])
    if isinstance(together, Unsupported):
        return together
    if are_fragments and (not _has_value(part) or (len(with_values) == 1 and with_values != [0])):
        return together
    return Unsupported("number", SEVERAL)


def _check_below(part: str, unit: str, headings: Sequence[str]) -> Supported | Unsupported:
    """Check a unit, else with what the headings above it are about, if the claim has its own subject."""
    checked = _check(part, unit)
    if isinstance(checked, Supported) or checked.missing not in {"name", "words", "date"}:
        return checked
    said, claim = read_statement(unit), read_statement(part)
    own = [name for name in said.names if name not in " ".join(claim.tokens)]
    for heading in headings:
        is_lent = not own and not (said.dates and split_dates(heading)[0])
        if is_lent and isinstance(lent := _check(part, _joined([heading, unit])), Supported):
            return lent
    return checked


def _check(part: str, unit: str) -> Supported | Unsupported:
    if any(words.search(part) and not words.search(unit) for words in _SUPERLATIVES):
        return Unsupported(
            "words", "the quote does not say that it is the most, the first, the only one, or all"
        )
    if exchange := find_exchange(part, unit):
        return exchange
    part, unit = (without_particles(in_one_word(text)) for text in (part, unit))
    checked = check_support(part, [unit])
    claim, said = read_statement(part), read_statement(unit)
    share = len(claim.letters & said.letters) / len(claim.letters) if claim.letters else 1.0
    if isinstance(checked, Supported) and is_korean(part):
        return checked if share >= _KOREAN_SHARE else Unsupported("words", "too few of its words are there")
    if isinstance(checked, Supported) or checked.missing != "words":
        return checked
    is_all_there = bool(claim.letters) and share >= _ALL_THERE and claim.is_denial == said.is_denial
    return Supported(1.0) if is_all_there and len(claim.subject) > 1 else checked


def _has_value(text: str) -> bool:
    statement = read_statement(text)
    return bool(statement.quantities or statement.dates)


def _plain(text: str) -> str:
    return one_style(one_spelling(text))


def _said(units: Sequence[_Unit], place: int) -> list[str]:
    """What a unit says: a row cell by cell; a sentence after the one that its pronoun refers to."""
    unit = units[place]
    if not unit.is_row:
        refers = _REFERS.match(unit.text) and place and units[place - 1].block == unit.block
        return [_joined([units[place - 1].text, unit.text]) if refers else unit.text]
    first = place
    while first and units[first - 1].is_row and not units[first - 1].text.startswith("#"):
        first -= 1
    head, cells = _cells(units[first].text), _cells(unit.text)
    row = " ; ".join(cells)
    if first < place and len(head) == len(cells) > 1 and not _has_value(" ; ".join(head)):
        names = (cells[0], f"{cells[0]} {head[0]}")  # 간편결제, 간편결제 사업부
        under = [_under(name, cell) for name, cell in zip(head[1:], cells[1:], strict=True)]
        return [f"{name}, {cell}" for cell in under for name in names]
    before = units[first - 1].text if first else ""
    return [row if not before or _has_value(before) else _joined([before, row])]


def _cells(row: str) -> list[str]:
    if _CSV.fullmatch(row):
        return row.split(",")
    return [cell.strip() for cell in row.strip("| ").split("|")]


def _under(name: str, cell: str) -> str:
    """A cell after the name of its column, and before its unit: ``길이 (km)`` and 494 are ``길이 494 km``."""
    measured = _IN_BRACKETS.search(name)
    if measured is None or not cell or not cell[-1].isdigit():
        return f"{name} {cell}"
    return f"{name[: measured.start()].strip()} {cell} {measured['unit']}"


def _joined(texts: Sequence[str]) -> str:
    """Texts as one sentence: what the last says is about what the first names."""
    return ", ".join([*(text.rstrip(" .!?。:|") for text in texts[:-1]), texts[-1]])


def _units(text: str) -> Iterator[_Unit]:
    block = 0
    for line, is_row in _lines(text):
        if not line:
            block += 1
            continue
        block += is_row
        for sentence in split_sentences(line, max_chars=len(line) + 1):
            yield _Unit(sentence, block, is_row)
        block += is_row


def _lines(text: str) -> Iterator[tuple[str, bool]]:
    """Lines with wrapped prose joined, and whether each is a row or an item; "" between paragraphs."""
    lines = [" ".join(line.split("\n")).rstrip() for line in text.splitlines()]
    width = max(map(len, lines), default=0)
    joined: list[str] = []
    for line, following in pairwise([*lines, ""]):
        joined.append(line)
        if not _is_wrapped(line, following, width):
            whole = " ".join(" ".join(joined).split())
            is_row = len(joined) == 1 and _is_row(line)
            yield whole, is_row or (_ITEM.match(joined[0]) is not None)
            joined = []


def _is_row(line: str) -> bool:
    return (_ITEM.match(line) or _ROW.search(line.strip()) or _CSV.fullmatch(line.strip())) is not None


def _is_wrapped(line: str, following: str, width: int) -> bool:
    """Whether prose goes on in the following line."""
    if not line.strip() or not following.strip() or _ITEM.match(following) or "|" in line + following:
        return False
    if _CONTINUES.match(following) or _UNFINISHED.search(line):
        return True
    are_parallel = _DIGIT.search(line) and _DIGIT.search(following)
    if len(line) < _PROSE_CHARS or _is_row(line) or _is_row(following) or are_parallel:
        return False
    return len(line) + 1 + len(following.split(maxsplit=1)[0]) > width * 0.8
