"""The keyword rules of coreloop.yaml, which give a question its category label."""

import re
import unicodedata
from collections.abc import Iterable, Sequence

from coreloop.base.records import UNSPECIFIED


class Categories:
    """Ordered keyword rules; the first match gives the label.

    Parameters
    ----------
    rules : iterable of (label, keywords)
        Matching ignores case and character width. A Korean keyword matches anywhere, because particles
        and compounds are written without a space. A Latin keyword matches whole words (``roe`` does not
        match ``heroes``) and their English inflections: ``refund`` matches ``refunded``, ``delivery``
        matches ``deliveries``. A keyword of up to three letters matches only itself and its plural in ``s``.
    """

    def __init__(self, rules: Iterable[tuple[str, Sequence[str]]] = ()) -> None:
        self.rules = tuple((label, tuple(keywords)) for label, keywords in rules)
        self._rules = [(label, _any_of(keywords)) for label, keywords in self.rules if keywords]

    def label(self, question: str) -> str:
        """Return the label of the first matching rule, or ``UNSPECIFIED``."""
        folded = _fold(question)
        return next((label for label, pattern in self._rules if pattern.search(folded)), UNSPECIFIED)


def _any_of(keywords: Sequence[str]) -> re.Pattern[str]:
    return re.compile("|".join(_pattern(_fold(keyword)) for keyword in keywords))


def _pattern(keyword: str) -> str:
    before = r"(?<![a-z0-9])" if re.match(r"[a-z0-9]", keyword) else ""
    if not re.search(r"[a-z0-9]\Z", keyword):
        return before + re.escape(keyword)
    return f"{before}{_inflected(keyword)}(?![a-z0-9])"


def _inflected(keyword: str) -> str:
    """Build the pattern of a keyword whose last word may have an English ending.

    Not a stemmer: ``rate`` does not match ``rating``, which means something else.
    """
    stem, last = keyword[:-1], keyword[-1]
    length = len(re.split("[^a-z0-9]", keyword)[-1])
    if length < 4 or last.isdecimal():
        return f"{re.escape(keyword)}s?"
    if last == "s":
        return f"{re.escape(keyword)}(?:es)?"
    if last == "y" and stem[-1] not in "aeiou":
        return f"{re.escape(stem)}(?:y|ies|ied|ying)"
    if last == "e":
        return f"{re.escape(stem)}(?:e|es|ed{'|ing' if length > 4 else ''})"
    doubled = f"|{last}ed|{last}ing" if last in "bdglmnprt" else ""
    return f"{re.escape(keyword)}(?:s|es|ed|ing{doubled})?"


def _fold(text: str) -> str:
    return unicodedata.normalize("NFKC", text).lower()
