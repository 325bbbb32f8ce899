"""Words as the index knows them: of a passage when it is stored, of a query when it is asked.

Figures are questions of KorQuAD whose paragraph is the first result (benchmarks/search.py --tune).
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from coreloop.answer.search.extract.decode import clean_text
from coreloop.base.language.words import read_query, verb_forms

MAX_QUERY_CHARS: Final = 500
MAX_WORDS: Final = 32
_CJK: Final = "가-힣\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
_RUN: Final = re.compile(f"[{_CJK}]+")
_WORD: Final = re.compile(rf"[{_CJK}]+|[^\W_{_CJK}]+")
_EDGE: Final = re.compile(f"(?<=[{_CJK}])(?=[0-9A-Za-z])|(?<=[0-9A-Za-z])(?=[{_CJK}])")
"""Between ``2015`` and ``년``; FTS5 would take ``2015년`` for one word."""


@dataclass(frozen=True, slots=True)
class QueryWord:
    """A word of a query, and its stem without particles and endings; of Latin words both are the same."""

    text: str
    stem: str

    @property
    def is_cjk(self) -> bool:
        """Whether it is of Hangul, Han or kana."""
        return _RUN.match(self.text) is not None


def passage_words(heading: str, text: str) -> tuple[str, str, str]:
    """Return the columns heading, words and bigrams of a passage."""
    heading, text = (_EDGE.sub(" ", _normalized(part)) for part in (heading, text))
    return heading, text, " ".join(_bigrams(f"{heading}\n{text}"))


def query_words(query: str) -> list[QueryWord]:
    """Return the words that a query asks for, in order, without repeats and function words."""
    text = _normalized(clean_text(query[:MAX_QUERY_CHARS])).casefold()
    words = [_query_word(word) for word in list(dict.fromkeys(_WORD.findall(text)))[:MAX_WORDS]]
    return [word for word in words if not _is_function(word)] or words


def match_expression(query: str) -> str | None:
    """Return an FTS5 expression for the text of a user; None if it has no words.

    Only quoted words reach FTS5, so its operators in the text (``NEAR``, ``*``, quotes) mean nothing.
    """
    words = query_words(query)
    terms = [term for word in words for term in _terms(word)]
    # two words in a row: 92.0 % against 90.6 %
    terms += [f'words : "{one.text} {other.stem}"*' for one, other in pairwise(words)]
    return " OR ".join(dict.fromkeys(terms)) or None


def word_pattern(query: str) -> re.Pattern[str] | None:
    """Return what finds the words of a query in a text, with other endings too; None if it has no words."""
    words = sorted(query_words(query), key=lambda word: len(word.stem), reverse=True)
    return re.compile("|".join(map(_pattern, words)), re.IGNORECASE) if words else None


def _normalized(text: str) -> str:
    """Composed Hangul, plain width."""
    return unicodedata.normalize("NFKC", text)


def _bigrams(text: str) -> Iterator[str]:
    """Pairs of neighbouring Hangul, Han and kana characters; a single one stands alone."""
    return (run[place : place + 2] for run in _RUN.findall(text) for place in range(max(1, len(run) - 1)))


def _query_word(text: str) -> QueryWord:
    stem = next(iter(read_query(text).words), "") if _RUN.match(text) else text
    return QueryWord(text, stem if len(stem) > 1 else text)


def _is_function(word: QueryWord) -> bool:
    """Whether a word asks (``무엇인가``) or, in English, only connects (``the``)."""
    read = read_query(word.text)
    return bool(read.intents) or not (word.is_cjk or read.words or word.text.isdigit())


def _terms(word: QueryWord) -> Iterator[str]:
    if not word.is_cjk:
        yield f'{{heading words}} : "{word.text}"'
        return
    if len(word.stem) == 1:
        yield f'"{word.stem}"*'
        return
    yield from (f'bigrams : "{pair}"' for pair in _bigrams(word.stem))
    for form in verb_forms(word.text):  # 흐르나요 finds 흐른다
        yield f'{{heading words}} : "{form}"*'
    # a whole word counts more than its parts: 89.6 % against 89.3 %
    yield f'{{heading words}} : "{word.stem}"*'


def _pattern(word: QueryWord) -> str:
    stem = "|".join(map(re.escape, (word.stem, *verb_forms(word.text)))) if word.is_cjk else word.stem
    return stem if word.is_cjk else rf"\b{stem}[^\W_]{{0,4}}\b"
