"""One attack."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Attack:
    """What is tried; ``broken`` returns what went wrong, or "" if it held."""

    kind: str
    name: str
    broken: Callable[[], str]
