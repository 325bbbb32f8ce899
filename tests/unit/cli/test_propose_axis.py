"""propose-axis from the outside: every gate's figure, the exit code, one line per error."""

import json
import subprocess
from collections.abc import Callable

import pytest

from coreloop.base.git.trailers import write_trailers
from coreloop.descriptions.edit import Edited
from editing import put_lines
from merging import full_key
from promoting import FILE, Project

Propose = Callable[..., subprocess.CompletedProcess[str]]
LOW = ["--min-phase-r-merges", "1", "--min-phase-f-caveats", "0", "--min-age-days", "0"]


@pytest.fixture
def propose(command: Propose) -> Propose:
    return lambda folder, *words: command(folder, "propose-axis", "--engine", "analysis", *words)


def promote(project: Project, line: str, key: str = "aa") -> str:
    edited = put_lines((project.root / FILE).read_bytes(), "analysis", (line,), section="Guide")
    assert isinstance(edited, Edited)
    values = {
        "Phase": "R",
        "Candidate-Id": "cand-1",
        "Candidate-Key": full_key(key),
        "Target": f"{FILE}::analysis",
    }
    sha = project.commit({FILE: edited.source}, f"docs\n\n{write_trailers(values)}")
    project.git("push", "--quiet", "origin", "main")
    return sha


@pytest.fixture
def promoted(project: Project) -> Project:
    promote(project, '- Call: analysis(company, axis="수익성") -> show(company).')
    return project


def test_engines_with_promotions_are_named_if_this_engine_has_none(
    propose: Propose, promoted: Project
) -> None:
    done = propose(promoted.root, "--engine", "credit")
    assert "no promotion of credit; there are some of analysis" in done.stdout


def test_passed_gates_write_the_document_once_a_day(propose: Propose, promoted: Project) -> None:
    first, second = (propose(promoted.root, *LOW, "--axis", "수익성") for _ in range(2))
    path = promoted.root / "docs/phase-a-proposals/analysis-profitability.md"
    assert (first.returncode, first.stderr) == (0, f"wrote {path}\n")
    assert (second.returncode, second.stderr) == (0, f"has the section of today already: {path}\n")
    assert promoted.git("status", "--porcelain", "-uall") == f"?? {path.relative_to(promoted.root)}"


@pytest.mark.slow
def test_whole_engine_is_weighed_without_an_axis(propose: Propose, promoted: Project) -> None:
    promote(promoted, "- Call: analysis(company, axis=<axis>).", key="bb")
    facts = json.loads(propose(promoted.root, *LOW, "--json").stdout)
    assert (facts["axis"], facts["gates"][0]["figure"], facts["n_without_axis"]) == (None, 2, 1)
    assert facts["file"].endswith("docs/phase-a-proposals/analysis-general.md")
    assert "1 that name no declared axis" in propose(promoted.root, *LOW, "--axis", "수익성").stdout
