"""Switch off one heuristic of the detection, so that a run without it shows what it earns.

By replacing module attributes: the product needs no switch. If a heuristic was removed or renamed, the error
names the attribute.
"""

import importlib
import re
from collections.abc import Callable, Iterator, Mapping
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


def _in_closings(attribute: str, make: Callable[[Any], Any]) -> Switch:
    return Switch("coreloop.sanitize.without_spaces", attribute, make)


def _without_pieces(closings: Callable[..., Iterator[Any]]) -> Callable[..., Iterator[Any]]:
    return lambda view, shown, *, pieces: closings(view, shown, pieces=False)


HEURISTICS: Final[Mapping[str, tuple[Switch, ...]]] = {
    "spread": (_in_find("spread", lambda _: lambda text, budget: ()),),
    "letters": (_in_find("letters_as_digits", lambda _: lambda view, shown: None),),
    "pieces": (_in_find("closings", _without_pieces),),
    "lines": (_in_closings("_breaks", lambda _: lambda shown: ()),),
    "spaced": (_in_closings("_SPELLED", lambda _: _NEVER),),
    "spoken": (_in_find("spoken_digits", lambda _: lambda view, shown: None),),
    "views": (_in_find("readings", lambda _: lambda text: (None,)),),
    "base64": (
        _in_find("may_be_encoded", lambda _: lambda compact: False),
        _in_find("encoded", lambda _: lambda text: ()),
    ),
}
"""spread: numbers with blanks everywhere. letters: O and l as digits. pieces: runs of equally long pieces
joined. lines: line breaks closed. spaced: letters with blanks between them. spoken: digits in words. views:
digits, letters and escapes undisguised."""


def existing() -> list[str]:
    """The heuristics that this version of the product still has."""
    return [name for name, switches in HEURISTICS.items() if all(switch.exists() for switch in switches)]


def switch_off(name: str) -> None:
    """Do without a heuristic for the rest of this process."""
    for switch in HEURISTICS[name]:
        if not switch.exists():
            raise SystemExit(f"--without {name}: {switch.module}.{switch.attribute} is gone; edit {__file__}")
        switch.off()
