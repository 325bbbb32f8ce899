"""What a pull request says of a schema: only what no recorded call that worked is against."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from coreloop.base.project.settings import Settings
from coreloop.base.project.workspace import Workspace
from coreloop.promote.schema_patch import alternatives
from logs import call, failed, record, write_log

_SCHEMA = {"type": "object", "properties": {"days": {"type": "integer"}, "tags": {}}}
SOURCE = json.dumps([{"name": "book", "description": "Books.", "parameters": _SCHEMA}]).encode()


@pytest.mark.parametrize(
    ("line", "arguments", "said"),
    [
        (
            "- days: at most 45",
            [{"days": 45}, {}, {"days": None}],
            "`days: at most 45`: refuses none of 3 calls",
        ),
        ("- days: at most 45", [{"days": 45}, {"days": 46}], ""),
        ("- days: at most 45", [{"days": "9"}], ""),
        ("- days: at most 45", [], ""),
        ("- days: a whole number; at least 1", [{"days": 1}], "`days: at least 1`: refuses none of 1 calls"),
        ("- tags: at most 2 items", [{"tags": ["a"]}], '; write `"maxItems": 2`'),
        (
            "- Always pass days and tags",
            [{"days": 1}],
            "`Always pass days and tags (days)`: refuses none of 1 calls",
        ),
        ("- Leave out force", [{"days": 1}], "`Leave out force`: refuses none of 1 calls"),
        ("- Leave out force", [{"days": 1, "other": 1}], ""),
        ("- days: as YYYY-MM-DD", [{"days": 1}], ""),
    ],
)
def test_no_call_that_worked_would_be_refused(line: str, arguments: list[Any], said: str, tmp_path: Path):
    calls = [call("book", its) for its in arguments] + [failed("book", {"days": 99, "force": True})]
    write_log(tmp_path / "data/audit/ai-ask/2026-04-25.jsonl", [record(tool_calls=[its]) for its in calls])
    proposal: Any = SimpleNamespace(engine="book", symbol="book", lines=(line,))
    diff, sentences = alternatives(Workspace(tmp_path, Settings()), "tools.json", SOURCE, [proposal])
    assert said in "".join(sentences)
    assert bool(said) == bool(sentences)
    assert bool(diff) == (bool(said) and "write" not in said)
