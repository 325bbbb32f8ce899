#!/usr/bin/env python3
"""Run the acceptance tests, slow ones too, and print each promise of the specification with its state.

python scripts/promises.py           prints the table
python scripts/promises.py --check   also exits 1 if a promise is broken
"""

import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import pytest

TESTS = Path(__file__).parents[1] / "tests"
sys.path.insert(0, str(TESTS))

from acceptance.promises import DOCUMENTS, Promise, read_promises  # noqa: E402 (the path stands above)

State = Literal["kept", "read otherwise", "broken"]


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
    rows = [row for document in DOCUMENTS for row in read_promises(document)]
    for row in rows:
        reason = results.broken.get(row.id) or row.read_as or row.note
        print(f"{row.id:8}{state_of(row, results):16}{row.promise}{f' ({reason})' if reason else ''}")
    states = Counter(state_of(row, results) for row in rows)
    print(f"{len(rows)} promises: {', '.join(f'{n} {state}' for state, n in states.items())}")
    return int(check and bool(results.broken))


def state_of(row: Promise, results: Results) -> State:
    if row.id in results.broken:
        return "broken"
    if row.id not in results.passed:
        raise SystemExit(f"no test of promise {row.id} ran to its end here: it was skipped")
    return "read otherwise" if row.read_as else "kept"


if __name__ == "__main__":
    raise SystemExit(main(check="--check" in sys.argv[1:]))
