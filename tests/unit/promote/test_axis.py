"""When an axis is mature, which promotions speak for it, and the document that proposes it."""

import unicodedata
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from coreloop.base.git.repository import Repository
from coreloop.base.git.trailers import write_trailers
from coreloop.base.project.workspace import open_workspace
from coreloop.descriptions.edit import Edited
from coreloop.promote.axis import (
    AxisCase,
    AxisRequest,
    Thresholds,
    make_case,
    write_proposal,
)
from editing import put_lines
from promoting import FILE, SOURCE, Project
from rows import slow_after

NOW = datetime(2026, 4, 25, 12, tzinfo=UTC)
GUIDE = '- Call: analysis(company, axis="{}") -> show(company, topic).'
TODAY = NOW.date()
NOTHING = Thresholds(phase_r_merges=1, phase_f_caveats=0, age_days=0)
DOCUMENT = "docs/phase-a-proposals/analysis-profitability.md"


class History:
    """A history of promotions as promote writes them."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.n = 0

    def add(
        self,
        line: str = GUIDE.format("수익성"),
        *,
        phase: str = "R",
        at: str = "",
        file: str = FILE,
        symbol: str = "analysis",
        target: str | None = None,
    ) -> str:
        """Commit a line with trailers; return the hash. Repeated lines differ in a topic."""
        self.n += 1
        line = line.replace("topic", f"topic{self.n}")
        section = "Guide" if phase == "R" else "Caveats"
        edited = put_lines((self.project.root / file).read_bytes(), symbol, (line,), section=section)
        assert isinstance(edited, Edited)
        message = self.message(phase, target or f"{file}::{symbol}")
        return self.project.commit({file: edited.source}, message, **clock(at))

    def message(self, phase: str = "R", target: str = f"{FILE}::analysis") -> str:
        trailers = {
            "Phase": phase,
            "Candidate-Id": f"cand-2026-04-01-{self.n:03}",
            "Candidate-Key": f"{self.n:016x}",
            "Target": target,
            "Evidence": "12 of 12 requests, lower bound 0.76",
        }
        return f"[CORELOOP-{phase}] docs(analysis): a line\n\nAppends.\n\n{write_trailers(trailers)}\n"

    def mature(self) -> list[str]:
        """Three Guides and two caveats of an axis, the first 40 days before `NOW`."""
        guides = [self.add(at=f"2026-03-{day}") for day in (16, 20, 24)]
        return guides + [self.add(phase="F", at=f"2026-04-0{day}") for day in (1, 2)]

    def revert(self, sha: str) -> str:
        self.project.git("revert", "--no-edit", sha)
        return self.project.git("rev-parse", "HEAD")

    def on_branch(self, name: str, *, at: str) -> None:
        """A promotion on its own branch off main; main is checked out again."""
        self.project.git("switch", "--quiet", "--create", name, "main")
        self.add(at=at)
        self.project.git("switch", "--quiet", "main")


def clock(at: str) -> dict[str, str]:
    return {"GIT_COMMITTER_DATE": f"{at}T00:00:00Z"} if at else {}


@pytest.fixture
def history(project: Project) -> History:
    """A project without a remote whose first commit is of January."""
    project.git("remote", "remove", "origin")
    project.git("commit", "--quiet", "--amend", "-m", "first", **clock("2026-01-01"))
    return History(project)


def weigh(
    history: History,
    axis: str | None = "수익성",
    *,
    engine: str = "analysis",
    now: datetime = NOW,
    **more: Any,
) -> AxisCase:
    workspace = open_workspace(history.project.root)
    repository = Repository(workspace.root)
    return make_case(repository, workspace, AxisRequest(engine=engine, axis=axis, **more), now=now)


def figures(case: AxisCase) -> list[int]:
    return [gate.figure for gate in case.gates]


def write(history: History, case: AxisCase, today: date = TODAY) -> tuple[Path, bool]:
    return write_proposal(case, open_workspace(history.project.root), today=today)


def test_age_counts_from_the_merge_and_not_from_the_draft(history: History) -> None:
    history.on_branch("skill/a", at="2026-01-05")
    assert figures(weigh(history)) == [0, 0, 0]
    history.project.git("merge", "--quiet", "--no-ff", "-m", "Merge #1", "skill/a", **clock("2026-04-20"))
    assert figures(weigh(history)) == [1, 0, 5]


@pytest.mark.parametrize(
    ("dates", "age_days"),
    slow_after(
        1,
        [
            pytest.param(["2001-01-01", "2026-04-22"], 114, id="the first is dated before its parent"),
            pytest.param(["2038-01-01", "2026-03-01"], 0, id="the first is in the future"),
        ],
    ),
)
def test_wrong_commit_times_do_not_make_a_history_older(
    history: History, dates: list[str], age_days: int
) -> None:
    for at in dates:
        history.add(at=at)
    assert figures(weigh(history))[2] == age_days
    assert figures(weigh(history, now=NOW - timedelta(days=9999)))[2] == 0


def test_axis_is_that_of_the_last_call_with_a_selector(history: History) -> None:
    """As pattern chooses what it documents, so that one promotion is not two axes' evidence."""
    history.add('- Call: analysis(axis="안정성") -> analysis(axis="수익성", sub="roe") -> analysis(company).')
    history.add('- Call: analysis(company) -> scan(axis="수익성").')
    history.add("- Call: analysis(company, axis=<axis>).")
    case = weigh(history)
    assert (case.axes, case.n_without_axis) == ({"수익성": 1, "roe": 1}, 2)
    axes = ("수익성", "roe", "안정성", unicodedata.normalize("NFD", "수익성") + " ", None)
    assert [figures(weigh(history, axis))[0] for axis in axes] == [1, 1, 0, 1, 3]


def test_unreadable_file_and_hostile_target(history: History) -> None:
    history.project.commit({FILE: "def (\n"}, history.message())
    history.n += 1
    history.project.commit({"other.txt": "x"}, history.message(target="gone.py::analysis"))
    for target in ("../b.py::analysis", "/b.py::analysis", "b.txt::analysis", "b.py", ""):
        history.n += 1
        history.project.commit({"other.txt": target}, history.message(target=target))
    assert (figures(weigh(history, None))[0], weigh(history).n_without_axis) == (2, 2)


def test_project_in_a_folder_of_the_repository_reads_its_own_files(history: History) -> None:
    project = history.project
    project.commit({f"sub/{FILE}": SOURCE, "sub/coreloop.yaml": "data_dir: data\n"})
    history.add(file=f"sub/{FILE}", target=f"{FILE}::analysis")
    inner = History(Project(project.root / "sub", project.remote))
    assert figures(weigh(inner))[0] == 1
    path, _ = write(inner, weigh(inner, thresholds=NOTHING))
    assert path == project.root / "sub" / DOCUMENT


def test_document_shows_the_history(history: History) -> None:
    shas = history.mature()
    shas.append(history.add('- Call: analysis(axis="수익성", sub="roe") -> scan(company).', at="2026-04-10"))
    gone = history.add(at="2026-04-11")
    history.revert(gone)
    before = history.project.fingerprint()
    path, written = write(history, weigh(history))
    after = history.project.fingerprint()
    assert (written, path) == (True, history.project.root / DOCUMENT)
    assert {name for name in after if after[name] != before.get(name)} == {str(path)}
    text = path.read_text()
    assert text.startswith("# Proposal: analysis, axis 수익성\n")
    assert "| Phase R merges | 4 | 3 |\n| Phase F caveats | 2 | 2 |\n| days since the" in text
    assert all(f"`{sha[:12]}` added:\n\n    - Call: analysis(" in text for sha in shas)
    assert "12 of 12 requests, lower bound 0.76" in text
    assert "### Selector values\n\n- axis=수익성: 6\n- sub=roe: 1\n" in text
    assert f"| 2026-04-11 | R | `{gone[:12]}` | cand-2026-04-01-007 | reverted: does not count |\n" in text
    assert text.count(gone[:12]) == 1
    tasks = text.split("## What a human must do\n", 1)[1].split("\n## ", 1)[0]
    for task in ("Override key", "Axis", "Docstring", "Tests", "Pull request"):
        assert f"- [ ] {task}" in tasks
    assert f"`dartlab-coreloop docstring check {FILE}`" in tasks


def test_markup_in_a_commit_is_escaped(history: History) -> None:
    history.add()
    message = history.message().replace("12 of 12 requests", "<b>x</b> | [y](http://z) \x1b[0m")
    history.project.git("commit", "--quiet", "--amend", "-m", message)
    text = write(history, weigh(history, thresholds=NOTHING))[0].read_text()
    assert r"\<b\>x\</b\> \| \[y\](http://z) \\u\{1b\}\[0m" in text
