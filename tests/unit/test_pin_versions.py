"""What uv installs is pinned in pyproject.toml, with versions only."""

import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_pins_of_the_project_have_no_address():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    pinned = project["tool"]["uv"]["constraint-dependencies"]
    assert len(pinned) > 100
    assert not any("://" in pin or "@" in pin for pin in pinned)
    assert all("==" in pin for pin in pinned)
