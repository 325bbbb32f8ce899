"""What the place says that a quote was cut from: its sentences, rows and items, each for itself."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from coreloop.answer.models.questions import is_korean
from coreloop.answer.models.sentences import split_sentences
from coreloop.answer.research.findings import Supported, Unsupported
from coreloop.answer.research.statement import read_statement
from coreloop.answer.research.support import check_support

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
_COPULA: Final = r"(?:이었습니다|이었으며|이었다|였습니다|였다|입니다|이며|이고|이다)(?![가-힣])"
_ENDINGS: Final = (
    (re.compile(rf"(?<=[가-힣a-z\d%)]){_COPULA}", re.IGNORECASE), ""),
    (re.compile(r"(?<=[가-힣]{2}|[a-zA-Z\d%)]{2})임(?=[\s.]*$)"), ""),  # 수도임; not: 책임, 게임
    (re.compile(r"(?<=[가-힣]{2})함(?=[\s.]*$)"), "하다"),  # 발원함
    (re.compile(r"(?<=[가-힣]{2})됨(?=[\s.]*$)"), "되다"),
    (re.compile(r"(?<=[년월일])에(?![가-힣])"), ""),
    (re.compile(r"(?:되었|됐)(?:다|음|습니다|으며|고)(?![가-힣])"), "되다"),
    (re.compile(r"(?:하였|했)(?:다|음|습니다|으며|고)(?![가-힣])"), "하다"),
)
"""What a Korean says in another style: ``494km이다``, ``494 km입니다``, ``494km임``."""
_STYLE: Final = re.compile(r"(?:(?P<polite>[가-힣])니|(?P<present>[가-힣]))다(?![가-힣])")
_NIEUN, _BIEUP = 4, 17
"""Final consonants, counted from none."""
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


@dataclass(frozen=True, slots=True)
class _Unit:
    """A sentence, a row or an item on one line; ``block`` is the paragraph that it is a part of."""

    text: str
    block: int
    is_row: bool


def holds(text: str, quote: str) -> bool:
    """Whether a text has a quote word for word; blanks do not matter."""
    return bool(quote) and quote in " ".join(text.split())


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
    checks = [_check_part(part, place.units) for place in places for part in parts]
    return next((one for one in checks if isinstance(one, Unsupported)), Supported(1.0))


@dataclass(frozen=True, slots=True)
class _Quoted:
    """Where a quote stands: its units with what they refer to, and their paragraphs."""

    units: list[str]
    blocks: list[str]


def _quoted(text: str, quote: str) -> _Quoted:
    units = list(_units(text))
    start = " ".join(unit.text for unit in units).find(quote)
    end, at, places = start + len(quote), 0, []
    for place, unit in enumerate(units):
        if at < end and at + len(unit.text) > start:
            places.append(place)
        at += len(unit.text) + 1
    blocks = dict.fromkeys(units[place].block for place in places if not units[place].is_row)
    return _Quoted(
        [_plain(said) for place in places for said in _said(units, place)],
        [_plain(" ".join(unit.text for unit in units if unit.block == block)) for block in blocks],
    )


def _check_part(part: str, units: Sequence[str]) -> Supported | Unsupported:
    """One unit says it; fragments such as cells on their own lines do together, a value after its name."""
    checks = [_check(part, unit) for unit in units]
    if len(units) < 2 or any(isinstance(one, Supported) for one in checks):
        return next((one for one in checks if isinstance(one, Supported)), checks[0])
    together = _check(part, _joined(units))
    with_values = [place for place, unit in enumerate(units) if _has_value(unit)]
    are_fragments = not any(_FULL_STOP.search(unit) for unit in units[:-1])
    if isinstance(together, Unsupported):
        return together
    if are_fragments and (not _has_value(part) or (len(with_values) == 1 and with_values != [0])):
        return together
    return Unsupported(
        "number", "no one sentence or row of the quote says all of it; report one finding for each"
    )


def _check(part: str, unit: str) -> Supported | Unsupported:
    if any(words.search(part) and not words.search(unit) for words in _SUPERLATIVES):
        return Unsupported(
            "words", "the quote does not say that it is the most, the first, the only one, or all"
        )
    checked = check_support(part, [unit])
    claim, said = read_statement(part), read_statement(unit)
    if isinstance(checked, Supported) and is_korean(part):
        share = len(claim.letters & said.letters) / len(claim.letters) if claim.letters else 1.0
        return checked if share >= _KOREAN_SHARE else Unsupported("words", "too few of its words are there")
    if isinstance(checked, Supported) or checked.missing != "words":
        return checked
    is_all_there = bool(claim.letters) and claim.letters <= said.letters and claim.is_denial == said.is_denial
    return Supported(1.0) if is_all_there and len(claim.subject) > 1 else checked


def _has_value(text: str) -> bool:
    statement = read_statement(text)
    return bool(statement.quantities or statement.dates)


def _plain(text: str) -> str:
    """Korean verbs in one style: 지납니다, 지난다 and 지나다 are one."""
    for ending, replacement in _ENDINGS:
        text = ending.sub(replacement, text)
    return _STYLE.sub(_base_form, text)


def _base_form(match: re.Match[str]) -> str:
    last = match["polite"] or match["present"]
    if last in "습는":
        return "다"
    final = (ord(last) - ord("가")) % 28  # of a syllable, see Unicode chapter 3.12
    return f"{chr(ord(last) - final)}다" if final == (_BIEUP if match["polite"] else _NIEUN) else match[0]


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
        return [f"{cells[0]}, {_under(name, cell)}" for name, cell in zip(head[1:], cells[1:], strict=True)]
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
