"""What changed between two measurements of the same lines."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from coreloop.base.project.settings import Settings
from coreloop.base.project.workspace import Workspace
from coreloop.promote.measure.measurement import (
    Measurement,
    changes_since,
    fall,
    keep,
    measurement_before,
)
from coreloop.promote.measure.verdict import Difference, MeasureVerdict

BEFORE = Measurement(
    ts=datetime(2026, 11, 1, tzinfo=UTC),
    tool="update",
    keys=("a",),
    lines=("- priority: never empty",),
    model="here:m",
    verdict=MeasureVerdict.HELPS,
    about=Difference(0.4, 0.8, 0.3, 0.5, 80, 40),
    description="Update.\n\n- priority: never empty",
    others={"close": "1", "open": "2"},
)
NOW = replace(
    BEFORE,
    ts=BEFORE.ts + timedelta(days=1),
    keys=("a", "b"),
    model="here:n",
    about=Difference(0.4, 0.4, -0.1, 0.1, 80, 40),
    description="Update.\n\n- priority: never empty\n- limit: at most 20",
    others={"close": "1", "open": "3", "new": "4"},
)


def test_the_model_each_line_and_the_other_tools_are_named() -> None:
    assert changes_since(BEFORE, NOW) == [
        "the model: here:m, now here:n",
        "the description: + - limit: at most 20",
        "other tools: new, open",
    ]
    assert changes_since(BEFORE, BEFORE) == []


def test_lines_are_held_against_the_newest_measurement_of_some_of_them(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path, Settings())
    for kept in (BEFORE, replace(BEFORE, keys=("c",)), replace(BEFORE, tool="close")):
        keep(workspace, kept)
    found = measurement_before(workspace.measured_file, NOW)
    assert found == BEFORE
    fallen = fall(found, NOW)
    assert fallen is not None
    assert fallen.startswith("+40 points")
    assert fall(found, replace(NOW, about=BEFORE.about)) is None
    assert measurement_before(tmp_path / "absent.jsonl", NOW) is None
