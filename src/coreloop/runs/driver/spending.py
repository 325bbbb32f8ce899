"""What a command says of its spending, in JSON lines of its output; prose is never read."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf
from typing import Any, Final, TypeGuard

from coreloop.runs.amounts import Amount, microusd

_MOST_LINE_BYTES: Final = 8 << 20
_MOST_USD: Final = 1_000_000.0
_MOST_TOKENS: Final = 10**12
MOST_WAIT_S: Final = 7 * 86_400.0
_MOST_DIGITS: Final = 18
_SHOWN_BYTES: Final = 60
_LIMITED: Final = (429, 529)
"""HTTP: too many requests; the service is overloaded."""
_MILLISECONDS: Final = 10**11  # a time in seconds passes it in the year 5138
_OWN_KEYS: Final = frozenset({"usd", "tokens", "retry_after_s"})
_USAGE: Final = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")


@dataclass(slots=True)
class Reports:
    """The reports of one execution of a command.

    Attributes
    ----------
    is_reported : bool
        Whether it said what it spent.
    is_error : bool
        Whether a result of ``claude`` has ``"is_error": true``.
    is_limited : bool
        Whether a result of ``claude`` with ``"is_error": true`` is a rate limit or an overloaded service.
    retry_after_s : float or None
        A rate limit: when to try again.
    resets_at : float or None
        When ``claude`` says that the limit ends, in seconds since 1970.
    unreadable : str
        The beginning of a report whose amount cannot be counted; it counts as all that is left.
    """

    is_reported: bool = False
    is_error: bool = False
    is_limited: bool = False
    retry_after_s: float | None = None
    resets_at: float | None = None
    unreadable: str = ""
    _microusd: int = 0
    _tokens: int = 0
    _sessions: dict[str, int] = field(default_factory=dict)

    @property
    def cost(self) -> Amount:
        """The sum of all reports."""
        return Amount(self._microusd + sum(self._sessions.values()), self._tokens)

    def add_line(self, line: bytes) -> None:
        """Read a line; other lines than reports are ignored."""
        line = line.strip()
        if line[:1] not in (b"{", b"["):
            return
        value, is_unreadable = _read(line)
        items = value if isinstance(value, list) else [value]  # claude --verbose: a list
        try:
            reports = [self._add(item) for item in items if isinstance(item, dict)]
            is_report = True in reports
        except ValueError:
            is_report = is_unreadable = True
        if is_report and is_unreadable and not self.unreadable:
            self.unreadable = line[:_SHOWN_BYTES].decode("utf-8", "replace")
            self.is_reported = True

    def _add(self, item: dict[str, Any]) -> bool:
        """Add an object; whether it is a report of spending."""
        if item.get("type") == "result":
            self._add_claude(item)
            return True
        if item.get("type") == "rate_limit_event":
            self._add_limit(item.get("rate_limit_info"))
        elif item and item.keys() <= _OWN_KEYS:
            self._add_own(item)
            return True
        return False

    def _add_claude(self, item: dict[str, Any]) -> None:
        if item.get("is_error") is True:
            self.is_error = True
            self.is_limited |= self.resets_at is not None or item.get("api_error_status") in _LIMITED
        usage, cost = item.get("usage"), _usd(item, "total_cost_usd")
        if cost is not None:
            session = str(item.get("session_id") or len(self._sessions))
            # the cost of a session is that of all its turns so far
            self._sessions[session] = max(cost, self._sessions.get(session, 0))
        if isinstance(usage, dict):
            counted = {name: count for name, count in usage.items() if count is not None}  # no cache: null
            self._tokens += sum(_amount(counted, name, int, _MOST_TOKENS) or 0 for name in _USAGE)
        self.is_reported |= cost is not None or isinstance(usage, dict)

    def _add_limit(self, info: Any) -> None:
        """Read an event of ``stream-json``; only a rejected request counts, and only if the result fails."""
        reset = info.get("resetsAt") if isinstance(info, dict) and info.get("status") == "rejected" else None
        if _is_number(reset) and reset > 0:
            self.resets_at = reset / 1000 if reset > _MILLISECONDS else float(reset)

    def _add_own(self, item: dict[str, Any]) -> None:
        wait = item.get("retry_after_s")
        if _is_number(wait) and wait >= 0:
            self.retry_after_s = float(min(wait, MOST_WAIT_S))
        self.is_reported |= not item.keys().isdisjoint({"usd", "tokens"})
        self._microusd += _usd(item, "usd") or 0
        self._tokens += _amount(item, "tokens", int, _MOST_TOKENS) or 0


def _usd(item: dict[str, Any], name: str) -> int | None:
    usd = _amount(item, name, (int, float), _MOST_USD)
    return None if usd is None else microusd(usd)


def _amount(item: dict[str, Any], name: str, kind: Any, most: Any) -> Any:
    """Return an amount, None without one; over the most it counts as the most: it must not be cheap.

    Raises
    ------
    ValueError
        It cannot be counted.
    """
    value = item.get(name)
    if name in item and (isinstance(value, bool) or not isinstance(value, kind) or not 0 <= value < inf):
        raise ValueError(name)
    return None if value is None else min(value, most)


class StreamLines:
    """Splits a stream into lines; a line over 8 MB is skipped."""

    def __init__(self, hear: Callable[[bytes], None]) -> None:
        self._hear = hear
        self._rest = bytearray()
        self._is_skipped = False

    def add(self, data: bytes) -> None:
        """Add bytes of the stream."""
        *whole, rest = data.split(b"\n")
        for line in whole:
            self._rest += line
            if not self._is_skipped:
                self._hear(bytes(self._rest))
            self._rest.clear()
            self._is_skipped = False
        self._rest += rest
        if self._is_skipped or len(self._rest) > _MOST_LINE_BYTES:
            self._rest.clear()
            self._is_skipped = True

    def end(self) -> None:
        """End the last line, if it has no end of its own."""
        if self._rest:
            self._hear(bytes(self._rest))


def has_duplicate_keys(line: bytes) -> bool:
    """Whether an object of a JSON text has a key twice, of which a parser takes one, or nests too deep."""
    return _read(line)[1]


def _read(line: bytes) -> tuple[Any, bool]:
    """Read JSON, None if it is none; and whether an object has a key twice, or nests too deep."""
    twice: list[bool] = []

    def keyed(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        keys = dict(pairs)
        twice.append(len(keys) < len(pairs))
        return keys

    try:
        return json.loads(line, object_pairs_hook=keyed, parse_int=_whole), any(twice)
    except RecursionError:
        return None, True
    except ValueError:
        return None, False


def _whole(digits: str) -> float:
    return int(digits) if len(digits) <= _MOST_DIGITS else inf


def _is_number(value: Any) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)
