"""The summary of a nightly job: short, harmless, from the sanitized files."""

import subprocess
import sys
from pathlib import Path

from coreloop.cli.nightly import main
from coreloop.learn.proposals.proposal_files import job_summary
from promoting import counterexample, write_candidates, write_counterexamples


def test_a_recorded_name_is_no_markup(tmp_path: Path):
    candidates = write_candidates(tmp_path / "candidates" / "2026-04-25-candidates.json")
    hostile = counterexample(tool="<img src=x>![](y)\n# z")
    path = write_counterexamples(tmp_path / "c" / "2026-04-25-counterexamples.json", hostile)
    assert r"\<img src=x\>\!\[\](y)\\u\{a\}\# z" in job_summary(candidates, path)


def test_an_error_is_one_line_and_exit_code_2(tmp_path: Path):
    command = [sys.executable, "-m", "coreloop.cli.nightly", "summary", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "holds no candidates" in done.stderr
    assert main([], {}) == 2
