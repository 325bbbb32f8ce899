"""A long regular expression is verbose, or has an example that matches and one that does not."""

import importlib
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rows import each_row

SRC = Path(__file__).parents[2] / "src" / "coreloop"
ROOMS = ("base", "descriptions", "guard", "observe", "promote", "sanitize", "admin", "cli", "runs", "web")
EXAMPLES: dict[str, dict[str, dict[str, str]]] = tomllib.loads(
    Path(__file__).with_name("pattern_examples.toml").read_text(encoding="utf-8")
)
ROWS = [(f"{room}.{name}", example) for room, rows in EXAMPLES.items() for name, example in rows.items()]
FOREIGN = re.compile(r"\bfrom github\b|import (?:uvicorn|starlette)|frameworks/|__main__|/demo/project/")
MAX_PLAIN = 60


def test_a_long_pattern_is_verbose_or_has_examples():
    patterns = {name: pattern for room in ROOMS for name, pattern in _patterns(room)}
    assert len(patterns) > 200
    plain = {
        name
        for name, pattern in patterns.items()
        if len(pattern.pattern) > MAX_PLAIN and not pattern.flags & re.VERBOSE
    }
    assert plain - dict(ROWS).keys() == set()


@each_row(("name", "example"), ROWS)
def test_an_example_is_true(name: str, example: dict[str, str]):
    module, _, attribute = name.rpartition(".")
    match = getattr(
        getattr(importlib.import_module(f"coreloop.{module}"), attribute), example.get("how", "search")
    )
    assert match(example["yes"]), f"{name} does not match {example['yes']!r}"
    assert not match(example["no"]), f"{name} matches {example['no']!r}"


def _patterns(room: str) -> Iterator[tuple[str, re.Pattern[Any]]]:
    """The patterns that a room's modules compile, by dotted name; each once, where it is compiled."""
    for file in sorted((SRC / room).rglob("*.py")):
        text = file.read_text(encoding="utf-8")
        if "re.compile(" not in text or FOREIGN.search(f"{text}{file.as_posix()}"):
            continue
        parts = file.relative_to(SRC).with_suffix("").parts
        module = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        for name, value in vars(importlib.import_module(f"coreloop.{module}")).items():
            if isinstance(value, re.Pattern) and re.search(rf"^{name}\b.*=", text, re.MULTILINE):
                yield f"{module}.{name}", value
