#!/usr/bin/env python3
"""Write docs/explanation/promises.md from what the acceptance tests say.

python scripts/promises.py           runs the tests, slow ones too, and writes the page
python scripts/promises.py --check   runs them and fails if the page says something else
"""

import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import pytest

REPO = Path(__file__).parents[1]
PAGE = REPO / "docs" / "explanation" / "promises.md"
TESTS = REPO / "tests"
sys.path.insert(0, str(TESTS))

from acceptance.promises import DOCUMENTS, Promise, read_promises, read_title  # noqa: E402 (the path stands above)

State = Literal["kept", "read otherwise", "to do"]
_HEAD = """\
# Promises

What the specification promises, a row each, as `tests/acceptance/` finds it. *Kept*: as written. *Read
otherwise*: kept in another reading, on purpose, which the last column gives. *To do*: not kept yet, with what
was seen. `scripts/promises.py` writes this page from the tests' results.
"""


@dataclass
class Results:
    """A pytest plugin: the outcome of each row's tests."""

    broken: dict[str, str] = field(default_factory=dict)
    """Rows with a test that is expected to fail, and what was seen."""
    passed: set[str] = field(default_factory=set)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        properties = dict(report.user_properties)
        for row in properties.get("promise", ()):
            if report.when == "call" and report.passed:
                self.passed.add(str(row))
            elif report.skipped and hasattr(report, "wasxfail"):
                self.broken[str(row)] = str(properties.get("reason", ""))


def main(*, check: bool) -> int:
    results = Results()
    code = pytest.main(["-q", "-m", "slow or not slow", str(TESTS / "acceptance")], plugins=[results])
    if code:
        return int(code)
    page = render(results)
    if not check:
        PAGE.write_text(page, encoding="utf-8")
    elif PAGE.read_text(encoding="utf-8") != page:
        print(f"{PAGE.name} does not say what the tests say; run: uv run python scripts/promises.py")
        return 1
    return 0


def render(results: Results) -> str:
    documents = {document: read_promises(document) for document in DOCUMENTS}
    states = Counter(state_of(row, results) for rows in documents.values() for row in rows)
    total = ", ".join(f"{states[state]} {state}" for state in ("kept", "read otherwise", "to do"))
    tables = [_table(document, rows, results) for document, rows in documents.items()]
    return "\n".join([_HEAD, f"{sum(states.values())} promises: {total}.", "", *tables])


def state_of(row: Promise, results: Results) -> State:
    if row.id in results.broken:
        return "to do"
    if row.id not in results.passed:
        raise SystemExit(f"no test of promise {row.id} ran to its end here: it was skipped")
    return "read otherwise" if row.read_as else "kept"


def _table(document: str, rows: list[Promise], results: Results) -> str:
    lines = [_line(row, results) for row in rows]
    columns = "| # | promise | state | how it is read, or what was seen |\n|---|---|---|---|"
    head = f"## {document} {read_title(document)}\n\n{columns}"
    return "\n".join([head, *lines, ""])


def _line(row: Promise, results: Results) -> str:
    seen = results.broken.get(row.id) or row.read_as or row.note
    cells = (str(row.number), row.promise, state_of(row, results), seen)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


if __name__ == "__main__":
    raise SystemExit(main(check="--check" in sys.argv[1:]))
