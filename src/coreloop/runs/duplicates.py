"""Searches of a run, and whether a new query asks what one of them asked."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from coreloop.base.language.guards import Guards, differing_guards, read_guards
from coreloop.base.language.similarity import DUPLICATE_AT, similarity
from coreloop.base.language.words import QueryWords, read_query, shorten_query


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
    """Searches of a run, oldest first.

    Attributes
    ----------
    searches : list of Search
        To be read only.
    """

    def __init__(self, searches: Iterable[Search] = ()) -> None:
        self.searches: list[Search] = []
        self._worked: dict[str, tuple[QueryWords, Guards]] = {}
        for search in searches:
            self._add(search)

    def add_query_to_history(
        self, query_text: str, iteration: int, results_count: int, success: bool
    ) -> None:
        """Append a search."""
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
        query = shorten_query(query)
        if query in self._worked:
            return True, query
        words, guards = read_query(query), read_guards(query)
        alike = {
            earlier: similarity(words, known)
            for earlier, (known, known_guards) in self._worked.items()
            if not differing_guards(guards, known_guards)
        }
        best = max(alike, key=alike.__getitem__, default=None)
        return (True, best) if best is not None and alike[best] >= DUPLICATE_AT else (False, None)

    def _add(self, search: Search) -> None:
        search = replace(search, query=shorten_query(search.query))
        self.searches.append(search)
        if search.worked and search.query not in self._worked:
            self._worked[search.query] = read_query(search.query), read_guards(search.query)
