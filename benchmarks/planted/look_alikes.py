"""Values that look private and are not: replacing one of them is a false positive."""

from dataclasses import dataclass
from random import Random

from .patterns import table, write


@dataclass(frozen=True, slots=True)
class LookAlike:
    """A family of harmless values.

    Attributes
    ----------
    like : str
        Name of the kind that it looks like; empty for figures, dates and hashes in general.
    text : str
        Pattern of a value with the words around it.
    """

    like: str
    text: str

    def make(self, chance: Random) -> str:
        return write(self.text, chance)


LOOK_ALIKES: tuple[LookAlike, ...] = tuple(LookAlike(**row) for row in table("look_alikes.tsv"))
