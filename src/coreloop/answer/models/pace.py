"""How fast models have answered in this process, so that attempts can share the time that is left."""

from dataclasses import dataclass
from threading import Lock


@dataclass(frozen=True, slots=True)
class _Pace:
    shortest_s: float
    s_per_token: float


class Paces:
    """The pace of each model by name; threads may share it."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._seen: dict[str, _Pace] = {}

    def note(self, model: str, elapsed_s: float, output_tokens: int) -> None:
        """Remember a complete answer."""
        per_token = elapsed_s / max(1, output_tokens)
        with self._lock:
            before = self._seen.get(model, _Pace(elapsed_s, per_token))
            self._seen[model] = _Pace(min(before.shortest_s, elapsed_s), max(before.s_per_token, per_token))

    def shortest_s(self, model: str) -> float:
        """Return the seconds below which no answer was complete; 0 for a model that has not answered yet."""
        pace = self._seen.get(model)
        return pace.shortest_s if pace else 0.0

    def longest_s(self, model: str, output_tokens: int) -> float | None:
        """Return the seconds of a reply of so many tokens at the slowest pace; None if that is unknown."""
        pace = self._seen.get(model)
        return pace.s_per_token * output_tokens if pace else None
