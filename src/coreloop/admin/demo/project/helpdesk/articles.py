"""``search_articles``: the help center."""

import re

from .tables import Row, read_table

_MAX_LIMIT = 20
_SHORTEST_WORD = 3


def search_articles(query: str, limit: int = 5) -> list[dict[str, object]]:
    """Search the help center.

    Ranks the articles by how many words of the query they hold; a word in the title counts twice.

    Parameters
    ----------
    query : str
        A few English words; words of one or two letters do not count.
    limit : int
        How many articles to return at most.

    Returns
    -------
    list of dict
        Best first, each with ``id``, ``title`` and ``text``; empty if no article has any of the words.

    Raises
    ------
    ValueError
        If the query has no word, or the limit is out of range.

    Examples
    --------
    >>> [article["title"] for article in search_articles("reset password", limit=1)]
    ['Reset a password or sign in without one']
    >>> search_articles("?")
    Traceback (most recent call last):
    ValueError: query must have a word of three letters or more

    Notes
    -----
    Articles with the same count keep the order of the help center. Words are compared whole.

    Guide
    -----
    - Quote the steps of the article instead of writing your own.

    See Also
    --------
    list_incidents : Current and recent incidents.
    """
    if not 1 <= limit <= _MAX_LIMIT:
        raise ValueError(f"limit must be from 1 to {_MAX_LIMIT}, not {limit}")
    words = {word for word in _words(query) if len(word) >= _SHORTEST_WORD}
    if not words:
        raise ValueError("query must have a word of three letters or more")
    scores = {row["id"]: _score(row, words) for row in read_table("articles")}
    hits = [row for row in read_table("articles") if scores[row["id"]]]
    return [dict(row) for row in sorted(hits, key=lambda row: -scores[row["id"]])[:limit]]


def _score(row: Row, words: set[str]) -> int:
    return 2 * len(words & _words(row["title"])) + len(words & _words(row["text"]))


def _words(text: str) -> set[str]:
    return set(re.findall(r"[a-z0-9]+", text.lower()))
