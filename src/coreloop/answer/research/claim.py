"""What a sentence claims: words, dates, amounts, names, and whether it denies them."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from coreloop.answer.models.dates import Date, split_dates
from coreloop.answer.models.ranking import word_letters
from coreloop.answer.research.quantities import Quantity, split_quantities
from coreloop.answer.research.word_lists import GENERIC, NO_NAMES
from coreloop.base.language.tables import PARTICLES
from coreloop.base.language.words import is_hangul, split_tail, stems

_MARK: Final = re.compile(r"\s?\[\d{1,3}\]|^\s*\d{1,2}[.)]\s")  # "[3]", "4. " of a list
_TOKEN: Final = re.compile(r"[가-힣]+|[^\W\d_가-힣]+|\d+")
_NEGATION: Final = re.compile(
    r"""(?: \bnot\b(?!\sonly) | n['’]t\b | \b(?:never|cannot|unable\sto)\b ) (?P<verb>(?:\s[\w'-]+){0,4})
      | \b(?:no(?!\.?\s?\d)|without|neither|nor)\b (?P<noun>(?:\s[\w'-]+){0,2})
      | (?<![가-힣])(?:
          (?P<ended>(?:[가-힣]{1,12}\s)?[가-힣]{1,12}?)지(?:는|도|를|가)?\s?(?:않|못|아니)
        | (?P<lacked>[가-힣]{1,12})\s(?:아니(?:다|며|고|라|었|므|지만)|아닌|없(?:다|는|었|으|이|고|어|습|음))
        | (?:안|못)\s(?P<prefixed>[가-힣]{1,12})
        | (?P<unable>[가-힣]{1,12}?)\s?못(?:하|했|한|할)
      )
    """,
    re.VERBOSE | re.IGNORECASE,
)
_DENIAL: Final = re.compile(
    r"""\b(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would)\snot\b | n['’]t\b
      | \b(?:never|cannot|no\slonger)\b | 지(?:는|도|를|가)?\s?(?:않|못|아니)
      | (?<![가-힣])(?:아니|아닌|안\s|못\s|없(?:다|는|었|으|이|고|어|습|음)) | [가-힣]\s?못(?:하|했|한|할)""",
    re.VERBOSE | re.IGNORECASE,
)  # does not lead; not: if not treated, without lead
_DENIED_STEMS: Final = {"verb": 2, "noun": 1}
"""Words after an English negation that it denies; in Korean, it is the last one before it."""
_CAPITALISED: Final = r"(?:[A-Z](?:[^\W가-힣]|[&’'-])*|(?<![a-z])[a-z]++[A-Z][^\W가-힣]*)"
_NAME: Final = re.compile(rf"{_CAPITALISED}(?:\s(?:of\s|the\s|de\s|von\s|and\s)?{_CAPITALISED})*")
_NAME_WORD: Final = re.compile(r"[^\W\d_가-힣][^\W가-힣]*")
_SENTENCE_START: Final = re.compile(r"(?:^|[.!?:;]\s|\n)[\s\"'“‘(*#-]*$")
_TITLE: Final = (
    r"(?:대표|회장|사장|부회장|장관|의원|교수|박사|대통령|감독|선수|작가|총리|시장|씨|지사|위원장|왕|장군)"
)
_KOREAN_NAME: Final = re.compile(
    rf"""(?<![가-힣])(?:
        (?P<person>[가-힣]{{2,4}})(?=\s{_TITLE}(?![가-힣]{{3}}))
      | (?P<subject>[가-힣]{{2,20}}?)(?=(?:은|는|(?<!페)이|가|의|께서)(?![가-힣]))
      | (?P<place>[가-힣]{{1,6}}(?:특별시|광역시|대학교|주식회사|그룹|은행|전자|공화국|신문|병원|고등학교))
    )""",
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class ComparedText:
    """A text, as it is compared with others.

    Attributes
    ----------
    letters : frozenset of str
        Pairs of syllables of Korean stems, foreign stems; as in ``subject``.
    tokens : tuple of str
        Every word, in the text's order.
    dates : tuple of Date
    quantities : tuple of Quantity
        Without those that are dates.
    subject : tuple of str
        The stems without dates and amounts: what the sentence is about.
    names : tuple of str
        Words of names, case-folded; of Korean, what is named as subject, owner, person or place.
    nouns : tuple of str
        Korean stems of two syllables or more with a particle, and words of three without an ending.
    denied : frozenset of str
        The letters of the words that are denied: ``support`` in ``does not support``, ``지원`` in
        ``지원하지 않는다``.
    is_denial : bool
        Whether its verb is denied: ``does not``, ``no longer``, ``않다``; not ``without``.
    """

    letters: frozenset[str]
    tokens: tuple[str, ...]
    dates: tuple[Date, ...]
    quantities: tuple[Quantity, ...]
    subject: tuple[str, ...]
    names: tuple[str, ...]
    nouns: tuple[str, ...]
    denied: frozenset[str]
    is_denial: bool


def plain_text(text: str) -> str:
    """Return a text without citations (``[3]``) and the number of a list item."""
    return _MARK.sub("", unicodedata.normalize("NFKC", text))


def read_statement(text: str) -> ComparedText:
    """Read a sentence or a passage; citations such as ``[3]`` are no part of it."""
    text = plain_text(text)
    dates, undated = split_dates(text)
    quantities, rest = split_quantities(undated)
    return ComparedText(
        letters=word_letters(stems(rest)),
        tokens=tuple(_TOKEN.findall(text.casefold())),
        dates=dates,
        quantities=quantities,
        subject=tuple(stems(rest)),
        names=tuple(dict.fromkeys(_names(text))),
        nouns=tuple(_nouns(text)),
        denied=frozenset(letter for match in _NEGATION.finditer(text) for letter in _denied(match)),
        is_denial=_DENIAL.search(text) is not None,
    )


def _denied(match: re.Match[str]) -> frozenset[str]:
    kind = match.lastgroup or ""
    text = f"{match[kind]}다" if kind == "ended" else match[kind]  # 폐지되지 않았다 denies 폐지되다
    words = [word for word in stems(text) if not word.endswith("ly")]
    count = _DENIED_STEMS.get(kind)
    return word_letters(words[:count] if count else words[-1:])


def _nouns(text: str) -> Iterator[str]:
    for token in re.findall("[가-힣]{3,}", text):
        stem, tail = split_tail(token)
        if len(stem) > 1 and (not tail or tail in PARTICLES) and stems(stem):
            yield stem


def _names(text: str) -> Iterator[str]:
    for match in _NAME.finditer(text):
        words = _NAME_WORD.findall(match[0])
        begins = _SENTENCE_START.search(text, max(0, match.start() - 8), match.start()) is not None
        alone = begins and len(words) == 1 and words[0][1:].islower()
        if not alone:
            yield from (
                word for word in map(str.casefold, words) if word not in NO_NAMES and word[0:1].isalpha()
            )
    for match in _KOREAN_NAME.finditer(text):
        name = match["person"] or match["subject"] or match["place"]
        stem = split_tail(name)[0] if match["subject"] is None else name
        if is_hangul(stem) and len(stem) > 1 and stem not in GENERIC:
            yield stem
