"""Searches of a run, and whether a new query asks what one of them asked."""

from collections import Counter, deque
from collections.abc import Iterable
from dataclasses import dataclass, replace
from heapq import nlargest
from typing import Final

import msgspec
import orjson

from coreloop.base.errors import UsageError
from coreloop.base.language.guards import differing_guards, read_guards
from coreloop.base.language.similarity import DUPLICATE_AT, similarity
from coreloop.base.language.words import read_query, shorten_query

MAX_SEARCHES: Final = 10_000
"""A history keeps the newest."""
_COMPARED: Final = 24  # chosen: candidates by shared letters that are compared in full
_RARE_LETTERS: Final = 48
_INDEXED_LETTERS: Final = 128
_Signature = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Search:
    """A search of a run.

    Attributes
    ----------
    query : str
        Without control characters, at most 500 characters.
    iteration : int
        Of the run.
    results_count : int
        Number of results.
    success : bool
        False after an error.
    """

    query: str
    iteration: int
    results_count: int
    success: bool

    @property
    def worked(self) -> bool:
        """Whether a later query can be its duplicate."""
        return self.success and self.results_count > 0


class QueryHistory:
    """Searches of a run, oldest first; ``search_history.json``.

    Parameters
    ----------
    searches : iterable of Search
        Earlier searches, oldest first.
    max_searches : int
        Number of searches to keep.
    """

    def __init__(self, searches: Iterable[Search] = (), *, max_searches: int = MAX_SEARCHES) -> None:
        self._max = max(1, max_searches)
        self._searches: deque[Search] = deque()
        self._new: deque[Search] = deque()
        self._worked: Counter[str] = Counter()
        self._n_letters: dict[str, int] = {}
        self._with_letter: dict[_Signature, dict[str, dict[str, None]]] = {}
        for search in searches:
            self._add(search)

    @property
    def searches(self) -> tuple[Search, ...]:
        """All searches, oldest first."""
        return tuple(self._searches)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, QueryHistory) and self._searches == other._searches

    __hash__ = None  # type: ignore[assignment]  # it changes

    def add_query_to_history(
        self, query_text: str, iteration: int, results_count: int, success: bool
    ) -> None:
        """Append a search; beyond the maximum, the oldest is dropped."""
        self._add(Search(query_text, iteration, results_count, success))

    def is_duplicate_query(self, query: str) -> tuple[bool, str | None]:
        """Return whether a search that worked asked the same, and its query.

        Parameters
        ----------
        query : str
            Any text.

        Returns
        -------
        tuple of bool and str or None
            The most similar query, or None unless the query is a duplicate.
        """
        self._index_new()
        query = shorten_query(query)
        if query in self._n_letters:
            return True, query
        words = read_query(query)
        best, score = _best(
            (earlier, similarity(words, read_query(earlier))) for earlier in self._near(query)
        )
        return (True, best) if best is not None and score >= DUPLICATE_AT else (False, None)

    @classmethod
    def from_json(cls, data: bytes) -> "QueryHistory":
        """Read ``search_history.json``.

        Raises
        ------
        UsageError
            The data is not a list of searches.
        """
        try:
            return cls(msgspec.json.decode(data, type=list[Search]))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise UsageError(f"not a search history: {error}; export the run again") from error

    def to_json(self) -> bytes:
        """Return a list of ``{query, iteration, results_count, success}``."""
        return orjson.dumps(list(self._searches), option=orjson.OPT_INDENT_2)

    def _add(self, search: Search) -> None:
        search = replace(search, query=shorten_query(search.query))
        self._searches.append(search)
        self._new.append(search)
        if len(self._searches) > self._max:
            oldest = self._searches.popleft()
            if len(self._new) > len(self._searches):
                self._new.popleft()
            else:
                self._forget(oldest)

    def _index_new(self) -> None:
        """Index what was added since the last question: folding a run asks none."""
        for search in self._new:
            if search.worked:
                self._worked[search.query] += 1
                self._index(search.query)
        self._new.clear()

    def _index(self, query: str) -> None:
        if query in self._n_letters:
            return
        letters = _indexed_letters(query)
        self._n_letters[query] = len(letters)
        index = self._with_letter.setdefault(read_guards(query).signature, {})
        for letter in letters:
            index.setdefault(letter, {})[query] = None

    def _forget(self, search: Search) -> None:
        if not search.worked:
            return
        self._worked[search.query] -= 1
        if self._worked[search.query]:
            return
        del self._worked[search.query], self._n_letters[search.query]
        index = self._with_letter[read_guards(search.query).signature]
        for letter in _indexed_letters(search.query):
            del index[letter][search.query]
            if not index[letter]:
                del index[letter]

    def _near(self, query: str) -> list[str]:
        """Earlier queries of the same guards that share the most letters."""
        letters = _indexed_letters(query)
        index = self._with_letter.get(read_guards(query).signature, {})
        shared: Counter[str] = Counter()
        for posting in sorted((index.get(letter, {}) for letter in letters), key=len)[:_RARE_LETTERS]:
            shared.update(iter(posting))

        def share(other: str) -> float:
            return shared[other] / (len(letters) + self._n_letters[other])

        return _agreeing(query, nlargest(_COMPARED, shared, key=share))


def _indexed_letters(query: str) -> list[str]:
    return sorted(read_query(query).letters)[:_INDEXED_LETTERS]


def _agreeing(query: str, others: Iterable[str]) -> list[str]:
    guards = read_guards(query)
    return [other for other in others if not differing_guards(guards, read_guards(other))]


def _best(scores: Iterable[tuple[str, float]]) -> tuple[str | None, float]:
    """The first of the highest score; None if there are no scores."""
    best: tuple[str | None, float] = (None, 0.0)
    for text, score in scores:
        if score > best[1]:
            best = text, score
    return best
