"""The rule by which a score of another system says whether a request succeeded: ``>= 0.5``, ``== good``."""

import operator
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

_OPERATORS: Final[dict[str, Callable[[float, float], bool]]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
    "==": operator.eq,
    "!=": operator.ne,
}
_RULE: Final = re.compile(
    r"\s*([^<>=!]*[^<>=!\s])\s*(?:(>=|<=|==|!=|>|<)\s*(\S.*?))?\s*"
)  # helpful, s == good; not >= 0.5
_WORDS: Final = {"true": 1.0, "false": 0.0}


@dataclass(frozen=True, slots=True)
class Score:
    """A score, evaluation or annotation of a request: a number, a label, or both."""

    name: str
    value: float | None = None
    label: str | None = None
    at: str | None = None


@dataclass(frozen=True, slots=True)
class OutcomeRule:
    """Which score counts, and what it is compared with."""

    name: str
    operator: str
    wanted: float | str

    def passes(self, scores: Iterable[Score]) -> bool | None:
        """Whether a request succeeded by its last score of the name; None if none can be compared."""
        verdicts = [self._passes(score) for score in scores if score.name == self.name]
        return next((verdict for verdict in reversed(verdicts) if verdict is not None), None)

    def _passes(self, score: Score) -> bool | None:
        if isinstance(self.wanted, str):
            if score.label is None:
                return None
            return (score.label.strip().casefold() == self.wanted) == (self.operator == "==")
        value = score.value if score.value is not None else _number(score.label or "")
        return None if value is None else _OPERATORS[self.operator](value, self.wanted)


def parse_rule(text: str) -> OutcomeRule | None:
    """Parse ``outcome: score`` of coreloop.yaml; None if it is neither a name nor a comparison."""
    match = _RULE.fullmatch(text)
    if match is None:
        return None
    name, compared, value = match.groups(default="")
    wanted = _number(value) if compared else 0.5
    if wanted is None and compared not in {"==", "!="}:
        return None
    return OutcomeRule(name, compared or ">=", value.casefold() if wanted is None else wanted)


def _number(text: str) -> float | None:
    try:
        return _WORDS.get(text.strip().casefold()) if text.strip().casefold() in _WORDS else float(text)
    except ValueError:
        return None
