"""What a kind of line is: what it reads of a call, which lines it may say, and whether a call deviates."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache, partial
from itertools import accumulate
from types import MappingProxyType
from typing import Any, Final

from coreloop.learn.facts.values import texts_by_hash
from coreloop.learn.proposals.draft import MergedLine, merged_lines
from coreloop.learn.proposals.entry import CAVEATS, StatementKind
from coreloop.learn.proposals.equal_wordings import keys_of
from coreloop.learn.proposals.statement_lines import Advice
from coreloop.learn.proposals.vocabulary import Vocabulary
from coreloop.learn.statements.logged_calls import CallPlace

Subject = tuple[str, ...]
"""An argument's name, and what it is compared with: another argument, a field, a tool."""
Key = Any
"""What a kind reads about a subject in a call; None where the call shows nothing about it."""
ROUND: Final = frozenset(range(21)) | {
    *(factor * 10**power for factor in (1, 2, 3, 5, 8) for power in range(1, 5)),
    *(25, 140, 250, 255, 280),
}
"""Bounds that people set, beside the numbers in a tool's source."""


_MAX_BOUNDS: Final = 10  # of an argument that are tried: each is a hypothesis that costs the others power
AS_GOOD: Final = 1.25
"""A better reason may be wrong about a quarter more calls."""


@dataclass(frozen=True, slots=True)
class KeyTally:
    """Calls with a key: how many succeeded, and how many there are."""

    ok: int
    n: int

    @property
    def works(self) -> bool:
        """Whether more than half succeeded."""
        return 2 * self.ok > self.n


@dataclass(frozen=True, slots=True)
class Known:
    """What a tool's source declares.

    Attributes
    ----------
    texts : mapping of int to str
        Declared values by hash; other values are never written.
    listed : callable
        Sets of values that the source lists, by argument.
    numbers : frozenset of float
        Numbers in the source.
    tools : frozenset of str
        Names of all tools, to read the paths of sources.
    merged : tuple of MergedLine
        Promoted lines of its description.
    is_rejected : callable
        Whether a maintainer rejected a line.
    """

    texts: Mapping[int, str]
    listed: Callable[[str], frozenset[frozenset[str]]]
    numbers: frozenset[float]
    tools: frozenset[str]
    merged: tuple[MergedLine, ...] = ()
    is_rejected: Callable[[Advice], bool] = lambda line: False


def known_of(
    words: Vocabulary,
    tool: str,
    merges: Mapping[str, datetime] = MappingProxyType({}),
    rejected: frozenset[str] = frozenset(),
) -> Known:
    """What a tool's source declares; ``merges`` and ``rejected`` are as in `~.search.search_tools`."""
    defined = words.tool(tool)
    lag = timedelta(days=words.settings.effect.deploy_lag_days)
    return Known(
        texts=words.values_by_hash(tool),
        listed=partial(words.listed, tool),
        numbers=defined.numbers if defined is not None else frozenset(),
        tools=frozenset(words.tools),
        merged=merged_lines(tool, defined, merges, lag=lag) if defined is not None else (),
        is_rejected=lambda line: (
            bool(rejected) and not rejected.isdisjoint(keys_of(tool, str(line), CAVEATS))
        ),
    )


@dataclass(frozen=True, slots=True)
class LineKind:
    """A kind of line.

    Attributes
    ----------
    name : str
        As in proposals' files.
    forms : frozenset of str
        The forms of its lines.
    reads : callable
        Place -> subjects with a key.
    subject : callable
        Line -> the subject whose key decides.
    candidates : callable
        Subject, tally of each key, source -> lines.
    deviates : callable
        Line, key -> whether a call deviates from the line; None where the line says nothing about it.
    """

    name: StatementKind
    forms: frozenset[str]
    reads: Callable[[CallPlace], Iterator[tuple[Subject, Key]]]
    subject: Callable[[Advice], Subject]
    candidates: Callable[[Subject, Mapping[Key, KeyTally], Known], Iterator[Advice]]
    deviates: Callable[[Advice, Key], bool | None]


@lru_cache(maxsize=4096)
def hash_of(text: str) -> int:
    """A text's hash as facts hold it."""
    return next(iter(texts_by_hash([text])))


def slot(line: Advice, name: str) -> str:
    """The only item of a line's slot."""
    return dict(line.slots)[name][0]


def bounds(tallies: Mapping[float, KeyTally], known: Known, *, upper: bool) -> list[float]:
    """Numbers of the source, and up to ten round ones, that part what worked from what failed.

    A bound is one of them only if it is about as few calls wrong as the best of all numbers: a round number
    below the true one would forbid what works, and one above it would allow what fails. Of several with the
    same numbers on their sides, the one next to what worked: what lies beyond was never tried. More tests
    find less, due to the correction for their number.
    """
    values, by_side = sorted(tallies), dict[int, float]()
    if not values:
        return []
    inside = [bound for bound in ROUND | known.numbers if values[0] <= bound <= values[-1]]
    for bound in sorted(inside, key=lambda bound: (bound in known.numbers, -bound if upper else bound)):
        by_side[(bisect_right if upper else bisect_left)(values, bound)] = bound
    wrong = _wrong_calls([tallies[value] for value in values], upper=upper)
    limit = AS_GOOD * min(wrong[1:-1], default=0) + 1
    fitting = sorted(side for side in by_side if wrong[side] <= limit)
    in_source = [by_side[side] for side in fitting if by_side[side] in known.numbers]
    rest = [side for side in fitting if by_side[side] not in known.numbers]
    return [*in_source, *(by_side[side] for side in sorted(rest, key=wrong.__getitem__)[:_MAX_BOUNDS])]


def _wrong_calls(tallies: Sequence[KeyTally], *, upper: bool) -> list[int]:
    """About how many calls a bound before each number, and after the last, is wrong."""
    failed = [0, *accumulate(tally.n - tally.ok for tally in tallies)]
    worked = [0, *accumulate(tally.ok for tally in tallies)]
    if upper:
        return [failed[side] + worked[-1] - worked[side] for side in range(len(tallies) + 1)]
    return [worked[side] + failed[-1] - failed[side] for side in range(len(tallies) + 1)]
