"""The subject of a question: ``subjects.toml``, and a row of the demo's own table."""

import csv
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from random import Random
from typing import Self

import msgspec

from coreloop.admin.demo.planned_request import Subject
from coreloop.admin.demo.recipes import Recipe


@dataclass(frozen=True, slots=True)
class Subjects:
    """The content of ``subjects.toml``, which documents the keys."""

    table: str
    noun: str
    usual: str
    all_but: dict[str, tuple[str, ...]]
    only: dict[str, tuple[str, ...]] = field(default_factory=dict)
    code: str | None = None
    general: tuple[str, ...] = ()
    peer: str | None = None
    count: tuple[int, int] | None = None

    @classmethod
    @cache
    def read(cls, path: Path) -> Self:
        """Read a file, once per process."""
        return msgspec.toml.decode(path.read_bytes(), type=cls)

    def draw(self, recipe: Recipe, rng: Random, *, project: Path) -> Subject:
        """Draw a row of the project's table that suits the recipe, and what else its question names."""
        rows = read_rows(project / self.table)
        row = rows[rng.choice(self._suiting(rows, recipe.suits or self.usual))]
        nouns: dict[str, object] = {self.noun: row["name"]}
        if self.peer is not None:
            usual = (rows[name] for name in self._suiting(rows, self.usual))
            peers = [other["name"] for other in usual if other[self.peer] == row[self.peer] and other != row]
            nouns |= {self.peer: row[self.peer], "peer": rng.choice(peers)}
        if self.count is not None:
            nouns["count"] = rng.randint(*self.count)
        names_none = recipe.asks_about or recipe.topic in self.general
        return Subject(nouns, stock_code=None if self.code is None or names_none else row[self.code])

    def _suiting(self, rows: Mapping[str, Mapping[str, str]], suits: str) -> tuple[str, ...]:
        if suits in self.only:
            return self.only[suits]
        return tuple(name for name in rows if name not in self.all_but[suits])


@cache
def read_rows(table: Path) -> Mapping[str, Mapping[str, str]]:
    """Read the rows of a table by name, in its order; of several with one name, the last."""
    with table.open(encoding="utf-8", newline="") as lines:
        return {row["name"]: row for row in csv.DictReader(lines)}
