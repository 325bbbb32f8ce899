"""The summary of a nightly job: short, harmless, from the sanitized files."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from coreloop.cli.nightly import main
from coreloop.learn.proposals.proposal_files import job_summary
from promoting import (
    counterexample,
    write_candidates,
)

WINDOW = {"since": "2026-03-26", "until": "2026-04-25"}
COUNTEREXAMPLE = counterexample(tool="get_order")


def counterexamples(folder: Path, *entries: dict[str, object]) -> Path:
    path = folder / "counterexamples" / "2026-04-25-counterexamples.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    at = {"schema_version": 1, "generated_at": "2026-04-25T03:00:00+00:00"}
    path.write_text(json.dumps({**at, "window": WINDOW, "counterexamples": entries}))
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_candidates(tmp_path / "candidates" / "2026-04-25-candidates.json")
    counterexamples(tmp_path, COUNTEREXAMPLE)
    return tmp_path


def test_a_recorded_name_is_no_markup(folder: Path):
    path = counterexamples(folder, COUNTEREXAMPLE | {"tool": "<img src=x>![](y)\n# z"})
    text = job_summary(folder / "candidates/2026-04-25-candidates.json", path)
    assert r"\<img src=x\>\!\[\](y)\\u\{a\}\# z" in text


def test_an_error_is_one_line_and_exit_code_2(tmp_path: Path):
    command = [sys.executable, "-m", "coreloop.cli.nightly", "summary", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "holds no candidates" in done.stderr
    assert main([], {}) == 2
