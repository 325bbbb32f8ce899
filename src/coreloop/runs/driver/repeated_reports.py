"""Whether an agent's reports say anything that its run has not heard before."""

from hashlib import blake2b
from typing import Any, Final

import msgspec
import orjson

from coreloop.base.text import FILLERS
from coreloop.runs.events import IterationCommitted, Recorded
from coreloop.runs.stores.store import Store

_WHEN: Final = frozenset({"at", "iteration"})


class News:
    """Listens to the reports of a run."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._newest = 0
        self._known: set[bytes] = set()
        self._under_way: set[bytes] = set()

    def hear(self, run_id: str) -> bool:
        """Whether a report of the iteration under way is one that no committed iteration made."""
        for seq, event in self._store.read(run_id, after=self._newest):
            self._newest = seq
            if isinstance(event, Recorded):
                self._under_way.add(_digest(event))
            elif isinstance(event, IterationCommitted):
                self._known |= self._under_way
                self._under_way.clear()
        return not self._under_way <= self._known


def _digest(report: Recorded) -> bytes:
    """Return what tells reports apart: all but when they were made, what they cost, and blanks."""
    content = orjson.dumps([_plain(msgspec.to_builtins(event)) for event in report.events])
    return blake2b(content, digest_size=16).digest()


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items() if name not in _WHEN}
    if isinstance(value, str):
        return " ".join("".join(map(_visible, value)).split())
    return [_plain(part) for part in value] if isinstance(value, list) else value


def _visible(char: str) -> str:
    """Return a character, a blank for a line break or a tab, and nothing for one that nobody sees."""
    return char if char.isprintable() and char not in FILLERS else " " * char.isspace()
