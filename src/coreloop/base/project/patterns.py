"""Regular expressions of a user: whether a search with one can take much longer than the text is long."""

import re
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from typing import Any, Final

_MAX_WAYS: Final = 10_000
_REPEATS: Final = frozenset({codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT})


def objection(pattern: str) -> str | None:
    """Say why a pattern is not acceptable, or return None.

    A pattern may match in at most `_MAX_WAYS` ways at each place of a text, which bounds its backtracking. So
    every repeat needs a limit, and repeats multiply.
    """
    try:
        tree = _parser.parse(pattern)
        re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        return f"is not a regular expression: {error}"
    if re.compile(pattern).match("") is not None:
        return "matches an empty text"
    ways = _ways(tree)
    if ways is None:
        return "repeats without a limit (*, + or {n,}); write a limit such as {1,40}"
    return "has too many nested or neighbouring repeats; use smaller limits" if ways > _MAX_WAYS else None


def _ways(tree: Any) -> int | None:
    """Count the ways in which a part can match, at most `_MAX_WAYS` + 1; None if there is no limit."""
    total = 1
    for code, argument in tree:
        ways = _ways_of(code, argument)
        if ways is None:
            return None
        total = min(total * ways, _MAX_WAYS + 1)
    return total


def _ways_of(code: Any, argument: Any) -> int | None:
    if code in _REPEATS:
        least, max_times, body = argument
        inner = _ways(body)
        if inner is None or max_times == codes.MAXREPEAT:
            return None
        if inner == 1:
            return int(max_times) - int(least) + 1
        sums: int = sum(inner ** min(n, 64) for n in range(least, min(max_times, 64) + 1))
        return min(sums, _MAX_WAYS + 1)
    bodies = [part for part in _parts(argument) if isinstance(part, _parser.SubPattern)]
    counts = [_ways(body) for body in bodies]
    if None in counts:
        return None
    return max(1, sum(count for count in counts if count is not None))


def _parts(argument: Any) -> list[Any]:
    """Flatten the arguments of a code, of which some are patterns."""
    if isinstance(argument, _parser.SubPattern) or not isinstance(argument, list | tuple):
        return [argument]
    return [part for item in argument for part in _parts(item)]
