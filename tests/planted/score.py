"""What a sanitizer let through and what it broke: rates by kind, place and disguise.

A value has leaked when somebody can recover it. So the output is undone as a patient reader would: escapes,
entities, percent signs and look-alikes are resolved, invisible characters and separators are dropped, and the
value's cores are looked for. How much of a core is enough stands with its kind; in general

- numbers of people, cards and accounts: more than receipts and forms show (a card's last four digits or first
  six are none, ten in a row are; of a registration number the birthday is none, one digit more is one);
- phones: all but one digit of what follows the prefix;
- e-mail: the local part or what follows a dot in it, with or without its domain; a domain alone is none;
- URLs: host, path, user, password or a query's value, each by itself;
- secrets: twelve characters in a row after the vendor's prefix, of a password eight;
- names, home folders, firms: the name.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from planted.fold import leaves, survives
from planted.records import Planted


@dataclass(frozen=True, slots=True)
class Score:
    """What came of planted records.

    Attributes
    ----------
    planted, leaked : Counter
        By (kind, place, disguise).
    clean, changed : Counter
        Look-alikes and those of them that are no longer there as they were, by kind.
    lost : tuple of int
        Numbers of the records that did not come out.
    examples : tuple of str
        The first leaks and changes, for a message.
    """

    planted: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    leaked: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    clean: Counter[str] = field(default_factory=Counter)
    changed: Counter[str] = field(default_factory=Counter)
    lost: tuple[int, ...] = ()
    examples: tuple[str, ...] = ()

    @property
    def leak_rate(self) -> float:
        """Share of the planted values, 0-1."""
        return self.leaked.total() / max(self.planted.total(), 1)

    @property
    def false_positive_rate(self) -> float:
        """Share of the look-alikes, 0-1."""
        return self.changed.total() / max(self.clean.total(), 1)

    def worst(self, by: str) -> list[tuple[str, float]]:
        """Leak rates by ``kind``, ``place`` or ``disguise``, the worst first; without those that are 0."""
        place = ("kind", "place", "disguise").index(by)
        planted, leaked = (
            Counter(
                {
                    name: sum(n for key, n in counts.items() if key[place] == name)
                    for name in {k[place] for k in counts}
                }
            )
            for counts in (self.planted, self.leaked)
        )
        return sorted(((name, n / planted[name]) for name, n in leaked.items()), key=lambda pair: -pair[1])

    def __str__(self) -> str:
        rates = (
            f"by {by}: {[f'{name} {rate:.1%}' for name, rate in self.worst(by)]}"
            for by in ("kind", "place", "disguise")
        )
        return "\n".join(
            (
                f"{self.leaked.total()} of {self.planted.total()} planted values leaked",
                *rates,
                f"{self.changed.total()} of {self.clean.total()} look-alikes changed: {dict(self.changed)}",
                f"{len(self.lost)} records lost",
                *self.examples,
            )
        )


def score(
    planted: Iterable[Planted], sanitized: Mapping[int, Mapping[str, Any]], *, readable: bool = True
) -> Score:
    """Hold what came out against what was planted.

    Parameters
    ----------
    planted : iterable of Planted
        What went in.
    sanitized : mapping of int to dict
        What came out, by `Planted.number`.
    readable : bool
        Whether look-alikes should still be there; modes that keep no text lose them by design.
    """
    result = Score()
    lost, examples = [], []
    for one in planted:
        record = sanitized.get(one.number)
        if record is None:
            lost.append(one.number)
            continue
        if one.cores:
            result.planted[one.key] += 1
            if any(survives(core, record) for core in one.cores):
                result.leaked[one.key] += 1
                examples.append(f"leaked, {' / '.join(one.key)}: {one.written!a} -> {_around(one, record)}")
        texts = set(leaves(record)) if readable else set()
        for kind, text in one.clean if readable else ():
            result.clean[kind] += 1
            if not any(text in leaf for leaf in texts):
                result.changed[kind] += 1
                examples.append(f"changed, {kind}: {text!r}")
    return Score(
        result.planted, result.leaked, result.clean, result.changed, tuple(lost), tuple(examples[:40])
    )


def _around(one: Planted, record: Mapping[str, Any]) -> str:
    found = next(
        (leaf for leaf in leaves(record) if any(survives(core, {"": leaf}) for core in one.cores)), ""
    )
    return ascii(found[:200])
