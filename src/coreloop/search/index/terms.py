"""Words as the index knows them: of a passage when it is stored, of a query when it is asked."""

import re
import unicodedata
from typing import Final

from coreloop.runs.queries.words import read_query
from coreloop.search.extract.decode import clean_text

MAX_QUERY_CHARS: Final = 500
MAX_TERMS: Final = 64
_CJK: Final = "가-힣\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
_RUN: Final = re.compile(f"[{_CJK}]+")
_WORD: Final = re.compile(rf"[{_CJK}]+|[^\W_{_CJK}]+")


def normalized(text: str) -> str:
    """Return the form in which texts are compared: composed Hangul, plain width."""
    return unicodedata.normalize("NFKC", text)


def bigrams(text: str) -> str:
    """Return the pairs of neighbouring Hangul, Han and kana characters; a single one stands alone.

    Parameters
    ----------
    text : str
        `normalized`.
    """
    return " ".join(
        run[place : place + 2] for run in _RUN.findall(text) for place in range(max(1, len(run) - 1))
    )


def query_words(query: str) -> list[str]:
    """Return the words of a query, in order, without repeats; at most `MAX_TERMS`."""
    text = normalized(clean_text(query[:MAX_QUERY_CHARS])).casefold()
    return list(dict.fromkeys(_WORD.findall(text)))[:MAX_TERMS]


def match_expression(query: str) -> str | None:
    """Return an FTS5 expression for the text of a user; None if it has no words.

    Only quoted words reach FTS5, so its operators in the text (``NEAR``, ``*``, quotes) mean nothing.
    """
    words = query_words(query)
    wanted = read_query(" ".join(words)).words
    kept = [word for word in words if _RUN.match(word) or not wanted or _is_wanted(word, wanted)]
    terms = list(dict.fromkeys(term for word in kept or words for term in _terms(word)))
    return " OR ".join(terms[:MAX_TERMS]) or None


def _is_wanted(word: str, wanted: frozenset[str]) -> bool:
    return bool(read_query(word).words & wanted)


def _terms(word: str) -> list[str]:
    if not _RUN.match(word):
        return [f'{{heading words}} : "{word}"']
    if len(word) == 1:
        return [f'"{word}"*']
    return [f'bigrams : "{word[place : place + 2]}"' for place in range(len(word) - 1)]


def word_pattern(query: str) -> re.Pattern[str] | None:
    """Return what finds the words of a query in a text, with other endings too; None if it has no words."""
    words = query_words(query)
    stems = sorted(read_query(" ".join(words)).words or words, key=len, reverse=True)
    parts = [
        re.escape(stem) if _RUN.match(stem) else rf"\b{re.escape(stem)}[^\W_]{{0,4}}\b" for stem in stems
    ]
    return re.compile("|".join(parts), re.IGNORECASE) if parts else None
