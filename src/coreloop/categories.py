"""Keyword rules of coreloop.yaml: from a question to its category label."""

import re
import unicodedata
from collections.abc import Iterable, Sequence

from coreloop.records import UNSPECIFIED


class Categories:
    """Ordered keyword rules; the first one that matches gives the label.

    Parameters
    ----------
    rules : iterable of (label, keywords)
        A keyword matches in any case and width. A Korean keyword matches anywhere, since particles and
        compounds are glued on; the ends of one in Latin letters must be the ends of a word (``roe`` is
        not in ``heroes``), a plural ``s`` aside.
    """

    def __init__(self, rules: Iterable[tuple[str, Sequence[str]]] = ()) -> None:
        self.rules = tuple((label, tuple(keywords)) for label, keywords in rules)
        self._rules = [(label, _any_of(keywords)) for label, keywords in self.rules if keywords]

    def label(self, question: str) -> str:
        """The label of the first rule that matches, ``UNSPECIFIED`` when none does."""
        folded = _fold(question)
        return next((label for label, pattern in self._rules if pattern.search(folded)), UNSPECIFIED)


def _any_of(keywords: Sequence[str]) -> re.Pattern[str]:
    return re.compile("|".join(_pattern(_fold(keyword)) for keyword in keywords))


def _pattern(keyword: str) -> str:
    before = r"(?<![a-z0-9])" if re.match(r"[a-z0-9]", keyword) else ""
    after = r"s?(?![a-z0-9])" if re.search(r"[a-z0-9]\Z", keyword) else ""
    return before + re.escape(keyword) + after


def _fold(text: str) -> str:
    return unicodedata.normalize("NFKC", text).lower()
