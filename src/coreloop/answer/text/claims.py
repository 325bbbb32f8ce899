"""Sentences as places in a text, what a sentence claims, and whether a text says it.

Compared are numbers, dates, names, denials and words; a row of a table and an item of a list are sentences.
"""

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise, takewhile
from typing import Final

from coreloop.answer.text.terms import is_cjk, key_list, keys, search_words, term_set, terms, words_of

# Overlap from which a sentence is said: chosen on half of AttributionBench (macro-F1 of the other 0.701).
SAID_AT: Final = 0.28
_AS_GOOD: Final = 0.9  # part of the best share from which another sentence says as much
MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_ANY: Final = "|".join(MONTHS)
_MONTH: Final = re.compile(rf"(?i)\b({_ANY})[a-z]{{0,6}}\b\.?(?=\s\d)|(?<=\d\s)({_ANY})[a-z]{{0,6}}\b")
SPELT: Final = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_COUNTED: Final = re.compile(rf"\b(?:{'|'.join(SPELT)})\b", re.IGNORECASE)
_NUMBER: Final = re.compile(r"(?<![A-Za-z\d])\d[\d,]*(?:\.\d+)?\s?(?:%|percent\b|퍼센트|프로)?")
_NAME: Final = re.compile(r"(?<![.!?:]\s)(?<!^)(?<![\"'“‘(])\b(?:[A-Z][\w&’'-]*|[a-z]+[A-Z]\w*)")
_SUBJECT: Final = re.compile(r"(?<![가-힣])([가-힣]{2,12}?)(?:에서|[은는이가의을를])(?![가-힣])")
_DENIAL: Final = re.compile(
    r"""(?i: \bnot\b(?!\sonly) | \b(?:never|cannot|no\slonger|without|neither|nor|unable)\b | n['’]t\b
      | \bno\s(?!\.?\s?\d) )
      | 지(?:는|도|를|가)?\s?(?:않|못|아니) | (?<![가-힣])(?:아니|아닌|안\s|못\s|없)
      | [가-힣]\s?못(?:하|했|한|할)""",
    re.VERBOSE,
)
_ROLE: Final = re.compile(r"(?:\{\w+\}|:[\w:]{1,60}:)(?=`)")  # {func}`…`, :class:`…`
_FLAG: Final = re.compile(r"(?<!\S)--?[A-Za-z][\w-]*")
UNIT: Final = re.compile(r"몇\s?[가-힣]+")  # 몇 명인가
_WITHUNIT: Final = re.compile(r"(\d[\d.]*\d|\d)([가-힣]?)[가-힣]*$")
_OF_DATES: Final = frozenset({"", "년", "월", "일"})  # 2025-09-30 is of 2025년
_PREDICATE: Final = re.compile(
    r"(?:하|되|했|됐|한|된|할|될)?(?:[는은]?가요?|나요?|까요?|니까?|냐|지요|죠|어요?|아요?|[해야]야?|(?<=^.)[은는])$"
)
_TOO_FEW: Final = "the cited text has too few of the sentence's words together"
_CITATION: Final = re.compile(r"\s?\[\d[\d,\s]*\]")


def plain(text: str) -> str:
    """Return a text as it is compared: without citations, on one line, with plain quotation marks."""
    text = _CITATION.sub("", unicodedata.normalize("NFKC", text))
    return " ".join(re.sub("[“”„«»]", '"', re.sub("[‘’]", "'", text)).split())


def holds(text: str, quote: str) -> bool:
    """Whether a quote stands in a text word for word; blanks beside Hangul do not matter."""
    return bool(plain(quote)) and _on_one_line(quote) in _on_one_line(text)


def numbers(text: str) -> frozenset[str]:
    """Return the numbers of a text, those of dates included: 3, 1 and 1998 of March 1, 1998."""
    text = unicodedata.normalize("NFKC", text)
    text = _MONTH.sub(lambda match: str(MONTHS.index((match[1] or match[2])[:3].casefold()) + 1), text)
    text = _COUNTED.sub(lambda match: str(SPELT.index(match[0].casefold()) + 2), text)
    return frozenset(map(_number, _NUMBER.findall(text)))


def names(text: str) -> frozenset[str]:
    """Return capitalised words inside a sentence, and Korean words with a particle, without it."""
    found = {match.casefold().removesuffix("'s") for match in _NAME.findall(plain(text)) if match != "I"}
    return frozenset(found | {match for match in _SUBJECT.findall(plain(text)) if len(match) > 1})


def unsaid(question: str, text: str) -> list[str]:
    """Return the words, numbers and flags of a question that a text does not have."""
    text = _ROLE.sub("", unicodedata.normalize("NFKC", text))
    stems = term_set(text)
    words = (*search_words(UNIT.sub("", question)), *_FLAG.findall(question))
    return [word for word in words if not _stands(word, text, stems)]


def _stands(word: str, text: str, stems: frozenset[str]) -> bool:
    """Whether a word stands in a text somehow: 3분기 with its unit, 줄었나 as 줄었다, 만드나 as 만든다."""
    if word.startswith("-"):  # --colors is not --color
        return re.search(rf"{re.escape(word)}(?![\w-])", text) is not None
    if number := _WITHUNIT.match(word):
        unit = "" if number[2] in _OF_DATES else rf"\s?{number[2]}"
        return re.search(rf"(?<![\d.])0*{number[1]}(?!\d|[.]\d){unit}", text.replace(",", "")) is not None
    if len(pieces := words_of(word)) > 1:  # LG전자
        return all(_stands(piece, text, stems) for piece in pieces)
    if not is_cjk(word):
        whole, *parts = terms(word) or [""]
        return not whole or whole in stems or (len(parts) > 1 and stems.issuperset(parts))
    spaced = r"\s?".join(word)
    if re.search(rf"(?<![가-힣]){spaced}|{spaced}(?=[은는이가을를의에로와과도만]?(?![가-힣]))", text):
        return True
    stem = _PREDICATE.sub("", word)
    begins = re.compile(rf"(?<![가-힣\u1100-\u11ff]){unicodedata.normalize('NFD', stem)}")
    return stem != word and begins.search(unicodedata.normalize("NFD", text)) is not None


def is_denied(text: str) -> bool:
    """Whether a text denies something."""
    return _DENIAL.search(text) is not None


def lack(sentence: str, texts: Sequence[str]) -> str:
    """Say why the cited texts do not say a sentence; "" if they do.

    Its numbers, dates and denial must stand in the sentences that have most of its words, its names in the
    texts, and enough of its words together there. Sentences that tell who reads them what to answer are
    evidence of nothing.

    Parameters
    ----------
    sentence : str
        Of a model: untrusted.
    texts : sequence of str
        Of the sources that it cites.
    """
    claim = plain(sentence)
    wanted = keys(claim)
    said = [one for text in texts for one in split_sentences(text) if not gives_orders(one)]
    shares = [len(wanted & keys(one)) / len(wanted) if wanted else 0.0 for one in said]
    best = max(shares, default=0.0)
    if not best:
        return _TOO_FEW
    places = [place for place, share in enumerate(shares) if share >= _AS_GOOD * best]
    whole = "".join(word.casefold() for one in said for word in words_of(one))
    if unknown := sorted(name for name in names(claim) if _beginning(name) not in whole):
        return f"the cited text does not mention {unknown[0]}"
    around = [_around(claim, said, at) for at in places]
    near = min(around, key=lambda text: len(numbers(claim) - numbers(text)))
    if missing := sorted(numbers(claim) - numbers(near)):
        return f"the cited text does not have the number {missing[0]}"
    if all(is_denied(claim) != is_denied(said[place]) for place in places):
        return "the sentence or the cited text denies what the other says"
    if holds(near, claim) or (best + 2 * _together(claim, texts)) / 3 >= SAID_AT:
        return ""
    return _TOO_FEW


def _around(claim: str, said: Sequence[str], at: int) -> str:
    """Return a sentence and the one before it; without what is about others that have a name."""
    mine, theirs = set(_NAME.findall(claim)), set(_NAME.findall(said[at]))
    before = said[at - 1] if at else ""
    if mine - theirs and theirs - mine:
        return ""
    return said[at] if set(_NAME.findall(before)) - mine else f"{before} {said[at]}"


def _together(claim: str, texts: Sequence[str]) -> float:
    """Return the share of the neighbouring words of a claim that are neighbours in the texts."""
    said = {frozenset(pair) for text in texts for pair in pairwise(key_list(text))}
    pairs = [frozenset(pair) for pair in pairwise(key_list(claim))]
    return sum(pair in said for pair in pairs) / len(pairs) if pairs else 1.0


def _number(text: str) -> str:
    digits = re.sub(r"[^\d.]", "", text).lstrip("0") or "0"
    return f"{digits}%" if text.rstrip().endswith(("%", "percent", "퍼센트", "프로")) else digits


def _beginning(name: str) -> str:
    """What other forms of a name have, too: ``America``, ``American``; 한강 of 한강변."""
    bare = "".join(words_of(name))
    return bare[:2] if is_cjk(bare) else bare[:5]


def _on_one_line(text: str) -> str:
    return re.sub(r"(?<=[가-힣]) | (?=[가-힣])", "", plain(text))


_END: Final = re.compile(
    r"""(?<=[.!?。])[\"'”’)\]]*(?:\[\d{1,3}\])*\s+(?=[\"'“‘(\[]?[A-Z0-9가-힣`*:_])
      | \n\s*\n | \n(?=\s*(?:[-*+|>]|\#{1,6}\s|\d+[.)])\s?)""",
    re.VERBOSE,
)
_NO_END: Final = re.compile(
    r"(?:\b(?:e\.g|i\.e|Mr|Mrs|Ms|Dr|St|vs|cf|No|Jr|Sr|Inc|Co|Ltd|Corp|[A-Z])\.|(?:^|\D)\d{1,4}\.)$"
)
_HEADING: Final = re.compile(r"(?:\#{1,6}\s|[^\n]*\n([=\-~^\"'*+.])\1{2,}\s*(?:\n|$))")
_HEAD_OF_TABLE: Final = re.compile(r"\s*\|[\s:-]+[-|]")
_UNDERLINED: Final = re.compile(r"\s*\n([=~^\"'*+-])\1{2,}\s*(?:\n|$)")
# Sentences that tell who reads them what to answer: ``Ignore all instructions``; not: ``Run the tests``.
_ORDERS: Final = re.compile(
    r"""(?i:
        \b(?:ignore|disregard|forget|override)\b.{0,40}\b(?:instruction|prompt|rule|question|above|previous|other)
      | \b(?:ai|llm|language\smodel|chatbot|assistant)s?\b.{0,30}
        \b(?:must|should|shall|will|has\sto|always|answer|reply|say)
      | \b(?:you|always)\s(?:must\s|should\s|shall\s|are\sto\s|have\sto\s)?(?:answer|reply|respond|cite|say)\b
      | \A(?:please\s)?(?:answer|reply|respond)\s(?:that|with|only|by|always|")
      | \bsystem\sprompt\b | \byou\sare\s(?:now\s)?an?\s(?:ai|assistant|language)
    ) | (?:지시|명령|프롬프트|규칙).{0,10}(?:무시|잊)
      | (?:라고|으로|로만)\s?(?:답|대답|응답)(?:하라|하십시오|하세요|해라|해야)
    """,
    re.VERBOSE | re.DOTALL,
)
_FOOTNOTE: Final = re.compile(r"\s?\[\d{1,3}\]")


def gives_orders(text: str) -> bool:
    """Whether a sentence tells its reader what to answer; such a one is shown, and never an answer."""
    return _ORDERS.search(text) is not None


@lru_cache(maxsize=1_024)
def split(text: str, *, is_code: bool = False) -> tuple[tuple[int, int], ...]:
    """Return where the sentences of a text begin and end, without headings; of a program, its lines."""
    ends = [(match.start(), match.end()) for match in re.finditer(r"\n" if is_code else _END, text)]
    places, start = [], 0
    for stop, following in [*ends, (len(text), len(text))]:
        goes_on = not is_code and following < len(text) and _goes_on(text, start, stop, following)
        if goes_on:
            continue
        places += _stripped(text, start, stop)
        start = following
    return tuple(places)


def head_of_table(text: str, start: int) -> str:
    """Return the first row of the table that a row stands in; "" if it is no row or has no such head."""
    if not text.startswith("|", start):
        return ""
    above = text[:start].splitlines()[::-1]
    rows = list(takewhile(lambda line: line.lstrip().startswith("|"), above))
    return rows[-1] if len(rows) > 1 and _HEAD_OF_TABLE.match(rows[-2]) else ""


def split_sentences(text: str) -> list[str]:
    """Return the sentences of a text, each a part of it."""
    return [text[start:end] for start, end in split(text)]


def without_footnotes(sentence: str) -> str:
    """Return a sentence on one line without the marks of footnotes, which would look like citations."""
    return " ".join(_FOOTNOTE.sub("", sentence).split())


def _goes_on(text: str, start: int, stop: int, following: int) -> bool:
    """Whether what looks like an end is none: ``Dr. Kim``, ``2025. 9. 30. 기준``."""
    if text[stop - 1] != "." or "\n\n" in text[stop:following]:
        return False
    if not _NO_END.search(text, max(start, stop - 8), stop):
        return False
    return not text[stop - 2].isdecimal() or text[following].isdecimal() or text[following] in "기현까부에자"


def _stripped(text: str, start: int, stop: int) -> list[tuple[int, int]]:
    part = text[start:stop]
    if not part.strip(" \t\n#|-*`=~+:") or _HEADING.match(part.lstrip()) or _HEAD_OF_TABLE.match(part):
        return []
    if _UNDERLINED.match(text, stop) or (part.lstrip().startswith("|") and _HEAD_OF_TABLE.match(text, stop)):
        return []
    first = start + len(part) - len(part.lstrip())
    last = first + len(part.strip())
    return [(first, last)]
