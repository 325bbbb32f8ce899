"""The agent's answers: lines made from tool results, and a check for unsupported text."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from string import Formatter
from typing import Any, Self, TypeAlias

import msgspec

from coreloop.admin.demo.planned_request import Closing, Language

Result: TypeAlias = Any
"""The result of a tool: an object, or a list of objects."""
Label: TypeAlias = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Prose:
    """The content of ``prose.toml``, which documents the keys."""

    figure: str
    forbidden: tuple[str, ...]
    forbidden_is: str
    sentences: dict[Language, dict[str, str]]
    lines: dict[str, tuple[tuple[str, str], ...]]
    labels: dict[Language, dict[str, str]] = field(default_factory=dict)

    @classmethod
    @cache
    def read(cls, path: Path) -> Self:
        """Read a file, once per process."""
        return msgspec.toml.decode(path.read_bytes(), type=cls)

    def label(self, name: str, language: Language) -> str:
        """Return the label of a field in an answer, by default its name."""
        if language not in self.labels:
            return name.replace("_", " ")
        return self.labels[language].get(name, name)

    def result_lines(self, tool: str, result: Result, language: Language) -> list[str]:
        """Write a tool's result as lines of an answer."""
        rows = result if isinstance(result, list) else [result]
        label = partial(self.label, language=language)
        return [
            _Line(label, row.get("columns", ())).vformat(line, (), values)
            for row in rows
            for part, line in self.lines[tool]
            for values in _values(row, part)
        ]

    def compose_answer(
        self, lines: Sequence[str], *, language: Language, closing: Closing, gave_up: bool
    ) -> str:
        """Compose an answer from rendered results.

        Parameters
        ----------
        lines : Sequence[str]
            The rendered results in the order of the calls.
        language : str
            Language of the other sentences.
        closing : str
            ``brief`` keeps the last line, ``outline`` the first four, all others keep every line; ``promise``
            and ``invented`` add a sentence that no result supports.
        gave_up : bool
            Whether a call failed without a recovery.

        Returns
        -------
        str
            The answer, one line per item.
        """
        sentences = self.sentences[language]
        if gave_up:
            return "\n".join([*lines, sentences["gave_up"]])
        if closing == "brief":
            return "\n".join(lines[-1:])
        if closing == "outline":
            return "\n".join(lines[:4])
        extra = [sentences[closing]] if closing in sentences else []
        return "\n".join([sentences["opening"], *lines, sentences["closing"], *extra])

    def find_violation(self, text: str, lines: Sequence[str]) -> str | None:
        """Return the rule that an answer breaks, or None.

        Parameters
        ----------
        text : str
            The answer.
        lines : Sequence[str]
            The rendered results: the only source of figures.

        Returns
        -------
        str or None
            The rule, without the answer's words; None if no rule is broken.
        """
        if any(word in text for word in self.forbidden):
            return self.forbidden_is
        supported = set(re.findall(self.figure, "\n".join(lines)))
        if set(re.findall(self.figure, text)) - supported:
            return "the answer states a figure that is in no result"
        return None


def _values(row: Mapping[str, Any], part: str) -> Iterator[Mapping[str, Any]]:
    """The values for a line: those of a result, or of each item of one of its fields."""
    if not part:
        yield row
        return
    items = row[part]
    for key, value in items.items() if isinstance(items, dict) else enumerate(items):
        yield {**row, "key": key, "value": value, **(value if isinstance(value, dict) else {})}


class _Line(Formatter):
    """Fills in a line of ``prose.toml``; a name that has no value stands for itself: ``{per_year:label}``."""

    def __init__(self, label: Label, columns: Sequence[str]) -> None:
        self._label = label
        self._columns = columns

    def get_value(self, key: int | str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        return kwargs.get(str(key), key)

    def format_field(self, value: Any, format_spec: str) -> str:
        match format_spec:
            case "label":
                return self._label(value)
            case "amount":
                return _amount(value)
            case "length":
                return str(len(value))
            case "history":
                return ", ".join(f"{year} {_amount(amount)}" for year, amount in value.items())
            case "row":
                named = list(zip(self._columns, value, strict=True))[1:]
                return ", ".join(f"{self._label(name)} {_amount(amount)}" for name, amount in named)
        return format(value, format_spec)


def _amount(value: float | None) -> str:
    """Format an integer as an amount of money and a float as a ratio."""
    if value is None:
        return "n/a"
    return f"{value:,}" if isinstance(value, int) else f"{value:.1%}"
