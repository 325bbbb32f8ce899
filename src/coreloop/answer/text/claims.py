"""Sentences as places in a text, what a sentence claims, and whether a text says it.

Compared are numbers, dates, names, denials and words; a row of a table and an item of a list are sentences.
"""

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise, takewhile
from typing import Final

from coreloop.answer.text.terms import bare, is_cjk, key_list, keys, search_words, term_set, terms, words_of

# Overlap from which a sentence is said: chosen on half of AttributionBench (macro-F1 of the other 0.701).
SAID_AT: Final = 0.28
_AS_GOOD: Final = 0.9  # part of the best share from which another sentence says as much
MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_ANY: Final = "|".join(MONTHS)
_MONTH: Final = re.compile(rf"(?i)\b({_ANY})[a-z]{{0,6}}\b\.?(?=\s\d)|(?<=\d\s)({_ANY})[a-z]{{0,6}}\b")
SPELT: Final = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_COUNTED: Final = re.compile(rf"\b(?:{'|'.join(SPELT)})\b", re.IGNORECASE)
_NUMBER: Final = re.compile(
    r"(?<![a-z\d.])(\d+(?:\.\d+)*)(?:[\s-]?(%|분기|개월|시간|[년월일시분초원명]|(?:quarter|month|year|day"
    r"|hour|minute|second|won|dollar|people|km|ms|[kmg]b)(?=s?\b))|(?!(?:st|nd|rd|th)\b|[은는이가을를의에로와과도부까])([a-z가-힣]))?",
    re.IGNORECASE,
)  # 12 of 12, 12 %, 12 days, 12th, 12월
# 2026-04-25, 2026.4.25, 2026년 4월 25일; not: 2026-13-01
DAY: Final = re.compile(r"(?<!\d)((?:20|19)\d\d)[-._/년]\s?(1[0-2]|0?\d)[-._/월]\s?(3[01]|[12]\d|0?\d)(?!\d)")
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
_DERIVED: Final = re.compile(r"\b[A-Za-z]+(?:er|or|ant|it[iy])(?:e?s)?\b")  # officer, authority
_FLAG: Final = re.compile(r"(?<!\S)--?[A-Za-z][\w-]*")
UNIT: Final = re.compile(r"몇\s?[가-힣]+")  # 몇 명인가
# What may end a Korean compound; and what a text may leave out that has the unit: 배당은 450원 of 배당금
_SUFFIXES: Final = "기게고며면여지인임일한할해된될돼금액률율비료장원자수적량들씩등중후전내당간형식용권법점품"
_LEFT_OUT: Final = re.compile("[금액비료][원달만억천조]|[률율]%|일[일월]")
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


def numbers(text: str) -> frozenset[tuple[str, str]]:
    """Return the numbers of a text with their units, of dates too: 3 월, 1, 1998 of March 1, 1998."""
    text = DAY.sub(r"\1년 \2월 \3일 ", unicodedata.normalize("NFKC", text))
    text = re.sub(r"(?<=\d)\s?(?:percent|퍼센트|프로)", "%", re.sub(r"\bQ([1-4])\b", r"\1분기", text))
    text = _MONTH.sub(lambda match: f"{MONTHS.index((match[1] or match[2])[:3].casefold()) + 1}월", text)
    text = _COUNTED.sub(lambda match: str(SPELT.index(match[0].casefold()) + 2), text)
    text = re.sub(r"\bv(?=\d)|(?<=\d),(?=\d)|(?<![\d.])0+(?=\d)", "", text)
    return frozenset((digits, (unit or other).casefold()) for digits, unit, other in _NUMBER.findall(text))


def unsaid_numbers(claim: str, text: str) -> list[str]:
    """Return the numbers of a claim that a text does not have, with its unit or without one."""
    said = numbers(text)
    counts = {number for number, unit in said if unit != "%"}
    missing = {(number, unit) for number, unit in numbers(claim) - said if unit or number not in counts}
    return sorted(number + unit for number, unit in missing if unit == "%" or (number, "") not in said)


def names(text: str) -> frozenset[str]:
    """Return capitalised words inside a sentence, and Korean words with a particle, without it."""
    found = {match.casefold().removesuffix("'s") for match in _NAME.findall(plain(text)) if match != "I"}
    return frozenset(found | {match for match in _SUBJECT.findall(plain(text)) if len(match) > 1})


def unsaid(question: str, text: str) -> list[str]:
    """Return the words, numbers and flags of a question that a text does not have."""
    text = _ROLE.sub("", unicodedata.normalize("NFKC", text))
    stems = term_set(text)
    things = stems if "who" in question.casefold() else term_set(_DERIVED.sub(_unless_whole, text))
    question = UNIT.sub("", question)
    words = (*(word for word in search_words(question) if not word[0].isdecimal()), *_FLAG.findall(question))
    missing = [word for word in words if not _stands(word, text, stems if _DERIVED.search(word) else things)]
    return missing + unsaid_numbers(question, text)


def _unless_whole(word: re.Match[str]) -> str:
    """Leave out a word whose stem is another word's, too: an officer is no office."""
    return word[0] if len("".join(terms(word[0])[:1])) > len(word[0]) - 2 else " "


def _stands(word: str, text: str, stems: frozenset[str]) -> bool:
    """Whether a word stands in a text somehow: 줄었나 as 줄었다, 만드나 as 만든다, 배당금 as 배당."""
    if word.startswith("-"):  # --colors is not --color
        return re.search(rf"{re.escape(word)}(?![\w-])", text) is not None
    if word[0].isdecimal():
        return not unsaid_numbers(word, text)
    if len(pieces := words_of(word)) > 1:  # LG전자
        return all(_stands(piece, text, stems) for piece in pieces)
    if not is_cjk(word):
        whole, *parts = terms(word) or [""]
        return not whole or whole in stems or (len(parts) > 1 and stems.issuperset(parts))
    spaced = r"\s?".join(word) if len(word) > 2 else word  # 이사 is not 이 사람
    if re.search(rf"(?:[가-힣]{{2}}|[총각본당]){spaced}(?=[은는이가을를의에로와과도만]?(?![가-힣]))", text):
        return True  # 시간 in 근무시간; not: 사장 in 부사장
    for found in re.finditer(rf"(?<![가-힣])({spaced})[가-힣]*", text):
        rest = bare(found[0])[len(found[1]) :]
        if len(rest) != 1 or rest in _SUFFIXES:  # 대출 in 대출한도를; not: 가운 in 가운데
            return True
    if len(word) == 3 and any(_LEFT_OUT.fullmatch(f"{word[2]}{unit}") for _, unit in numbers(text)):
        return _stands(word[:2], text, stems)
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
    said = [one for text in texts for one in split_sentences(text) if not ORDERS.search(one)]
    said = [one for one in said if OPEN.search(claim) or not OPEN.search(one)]
    shares = [len(wanted & keys(one)) / len(wanted) if wanted else 0.0 for one in said]
    best = max(shares, default=0.0)
    if not best:
        return _TOO_FEW
    places = [place for place, share in enumerate(shares) if share >= _AS_GOOD * best]
    whole = "".join(word.casefold() for one in said for word in words_of(one))
    if unknown := sorted(name for name in names(claim) if _beginning(name) not in whole):
        return f"the cited text does not mention {unknown[0]}"
    around = [_around(claim, said, at) for at in places]
    near = min(around, key=lambda text: len(unsaid_numbers(claim, text)))
    if missing := unsaid_numbers(claim, near):
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


def _beginning(name: str) -> str:
    """What other forms of a name have, too: ``America``, ``American``; 한강 of 한강변."""
    bare = "".join(words_of(name))
    return bare[:2] if is_cjk(bare) else bare[:5]


def _on_one_line(text: str) -> str:
    return re.sub(r"(?<=[가-힣]) | (?=[가-힣])", "", plain(text))


_END: Final = re.compile(
    r"""(?<=[.!?。])[\"'”’)\]]*(?:\[\d{1,3}\])*\s+(?=[\"'“‘(\[]?[A-Z0-9가-힣`*:_])
      | (?:(?<=\w{4}\.)|(?<=\d\.)|(?<=[`)\]]\.))\s+(?=[a-z])
      | \n\s*\n | \n(?=\s*(?:[-*+|>]|\#{1,6}\s|\d+[.)])\s?)""",
    re.VERBOSE,
)
_NO_END: Final = re.compile(
    r"(?:\b(?:e\.g|i\.e|Mr|Mrs|Ms|Dr|St|vs|cf|No|Jr|Sr|Inc|Co|Ltd|Corp|[A-Z])\.|(?:^|\D)\d{1,4}\.)$"
)
_HEADING: Final = re.compile(r"(?:\#{1,6}\s|[^\n]*\n([=\-~^\"'*+.])\1{2,}\s*(?:\n|$))")
_HEAD_OF_TABLE: Final = re.compile(r"\s*\|[\s:-]+[-|]")
_UNDERLINED: Final = re.compile(r"\s*\n([=~^\"'*+-])\1{2,}\s*(?:\n|$)")
# Sentences that tell who reads them what to answer, which are shown and never an answer:
# ``Ignore all instructions``; not: ``Run the tests``.
ORDERS: Final = re.compile(
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

# Open: whether dogs may come. It is not yet decided who leads it; not: Open: 9 to 17
OPEN: Final = re.compile(
    r"(?i)^\W*(?:(?:open|question)\s?:\s*(?:if|how|wh\w+)|(?:to-?do|to be \w+ed|un\w+d|unclear|pending)\s?:)"
    r"|\b(?:is|are|still|remains?) (?:still )?(?:un(?:decided|clear|known|resolved)|pending|open wh\w+)\b"
    r"|\bnot (?:yet )?(?:been )?(?:decided|settled|agreed|known|clear)\b|\btb[cd]\b|미정|정(?:해지|되)지\s?않"
)


@lru_cache(maxsize=1_024)
def split(text: str, *, is_code: bool = False) -> tuple[tuple[int, int], ...]:
    """Return where the sentences of a text begin and end, without headings; of a program, its lines."""
    ends = [(match.start(), match.end()) for match in re.finditer(r"\n" if is_code else _END, text)]
    places, start = [], 0
    for stop, following in [*ends, (len(text), len(text))]:
        if is_code or following == len(text) or not _goes_on(text, start, stop, following):
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
    return " ".join(_CITATION.sub("", sentence).split())


def _goes_on(text: str, start: int, stop: int, following: int) -> bool:
    """Whether what looks like an end is none: ``Dr. Kim``, ``2025. 9. 30. 기준``."""
    if text[stop - 1] != "." or "\n\n" in text[stop:following]:
        return False
    if text[start : stop - 1].strip().isdecimal():  # 1. Install it.
        return True
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
    return [(first, first + len(part.strip()))]
