"""Sentences, items of lists, rows of tables and blocks of code, as places in a text."""

import re
from functools import lru_cache
from itertools import takewhile
from typing import Final

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
