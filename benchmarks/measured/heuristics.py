"""Switch off one heuristic of the detection, so that a run without it shows what it earns.

By replacing module attributes: the product needs no switch. If a heuristic was removed or renamed, the error
names the attribute.
"""

import importlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

_NEVER: Final = re.compile(r"(?!)")


@dataclass(frozen=True, slots=True)
class Switch:
    """A module's attribute and what replaces it; ``make`` receives the original."""

    module: str
    attribute: str
    make: Callable[[Any], Any]

    def exists(self) -> bool:
        return hasattr(importlib.import_module(self.module), self.attribute)

    def off(self) -> None:
        module = importlib.import_module(self.module)
        setattr(module, self.attribute, self.make(getattr(module, self.attribute)))


def _in_find(attribute: str, make: Callable[[Any], Any]) -> Switch:
    return Switch("coreloop.sanitize.find_in_text", attribute, make)


HEURISTICS: Final[Mapping[str, tuple[Switch, ...]]] = {
    "lines": (Switch("coreloop.sanitize.undisguised", "_BREAK", lambda _: _NEVER),),
    "views": (_in_find("readings", lambda _: lambda text: (None,)),),
    "base64": (
        _in_find("may_be_encoded", lambda _: lambda compact: False),
        _in_find("encoded", lambda _: lambda text: ()),
    ),
}
"""lines: line breaks closed. views: digits, letters and escapes undisguised."""


def existing() -> list[str]:
    """The heuristics that this version of the product still has."""
    return [name for name, switches in HEURISTICS.items() if all(switch.exists() for switch in switches)]


def switch_off(name: str) -> None:
    """Do without a heuristic for the rest of this process."""
    for switch in HEURISTICS[name]:
        if not switch.exists():
            raise SystemExit(f"--without {name}: {switch.module}.{switch.attribute} is gone; edit {__file__}")
        switch.off()
