"""Presidio's and scrubadub's tallies, which take minutes: kept until the records or the tools change."""

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.measured.exports import OTHER_TOOLS, as_lines
from benchmarks.measured.scores import Tally, result_of_tool
from benchmarks.planted import Sample

FILE = Path(__file__).with_name("other_tools.json")


def measure(samples: Sequence[Sample]) -> dict[str, Tally]:
    """Run the other tools, and keep their tallies."""
    tallies = {tool: result_of_tool(samples, tool).tally() for tool in OTHER_TOOLS}
    kept = {"run": _run(samples)} | {tool: _to_json(tally) for tool, tally in tallies.items()}
    FILE.write_text(json.dumps(kept, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    return tallies


def kept(samples: Sequence[Sample]) -> dict[str, Tally]:
    """The kept tallies, if they are of the same records and versions; otherwise nothing."""
    found = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}
    return (
        {tool: _from_json(found[tool]) for tool in OTHER_TOOLS} if found.get("run") == _run(samples) else {}
    )


def _run(samples: Sequence[Sample]) -> dict[str, str]:
    records = hashlib.sha256("".join(as_lines(samples)).encode()).hexdigest()
    return OTHER_TOOLS | {"records": f"sha256:{records}"}


def _to_json(tally: Tally) -> dict[str, Any]:
    kinds = sorted({kind for kind, _ in tally.missed})
    return {
        "missed": {kind: [tally.missed[kind, True], tally.missed[kind, False]] for kind in kinds},
        "replaced": dict(sorted(tally.replaced.items())),
    }


def _from_json(facts: dict[str, Any]) -> Tally:
    missed = {
        (kind, is_plain): count
        for kind, counts in facts["missed"].items()
        for is_plain, count in zip((True, False), counts, strict=True)
    }
    return Tally(Counter(missed), Counter(facts["replaced"]))
