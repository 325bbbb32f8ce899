"""Histories of promotions of an axis, and what they weigh."""

from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from coreloop.base.git.repository import Repository
from coreloop.base.git.trailers import write_trailers
from coreloop.base.project.workspace import open_workspace
from coreloop.descriptions.edit import Edited, append_to_section
from coreloop.learn.line import parse_advice
from coreloop.promote.axis.axis_gates import AxisCase, AxisRequest, Thresholds, make_case
from coreloop.promote.axis.run import write_proposal
from promoting import FILE, Project

NOW = datetime(2026, 4, 25, 12, tzinfo=UTC)
GUIDE = '- Call: analysis(company, axis="{}") -> show(company, topic).'
CAVEAT = '- Fails: analysis(axis="{}"): 5 of 5 calls failed (invalid_argument); called otherwise 0 of 70.'
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
        line: str,
        *,
        phase: str = "R",
        at: str = "",
        file: str = FILE,
        symbol: str = "analysis",
        target: str | None = None,
    ) -> str:
        """Commit a line with trailers (and an evidence line, unless it is a statement); return the hash."""
        self.n += 1
        line = line.replace("5 of 5", f"{self.n} of {self.n}")
        path = self.project.root / file
        edited = append_to_section(
            path.read_bytes(),
            symbol,
            "Guide" if phase == "R" else "Caveats",
            (line,) if parse_advice(line) is not None else (line, f"- Evidence: {self.n}."),
        )
        assert isinstance(edited, Edited)
        return self.project.commit(
            {file: edited.source}, self.message(phase, target or f"{file}::{symbol}"), **clock(at)
        )

    def message(self, phase: str = "R", target: str = f"{FILE}::analysis") -> str:
        trailers = {
            "Phase": phase,
            "Candidate-Id": f"cand-2026-04-01-{self.n:03}",
            "Candidate-Key": f"{self.n:016x}",
            "Target": target,
            "Evidence": "12 of 12 requests, lower bound 0.76",
        }
        return f"[CORELOOP-{phase}] docs(analysis): a line\n\nAppends.\n\n{write_trailers(trailers)}\n"

    def mature(self, axis: str = "수익성") -> list[str]:
        """Three Guides and two caveats of an axis, the first 40 days before `NOW`."""
        guides = [
            self.add(GUIDE.format(axis).replace("topic", topic), at=f"2026-03-{day}")
            for day, topic in ((16, "topic"), (20, "year"), (24, "quarter"))
        ]
        return guides + [self.add(CAVEAT.format(axis), phase="F", at=f"2026-04-0{day}") for day in (1, 2)]

    def revert(self, sha: str, *options: str) -> str:
        self.project.git("revert", "--no-edit", *options, sha)
        return self.project.git("rev-parse", "HEAD")

    def on_branch(self, name: str, line: str, *, at: str) -> str:
        """A promotion on its own branch off main; main is checked out again."""
        self.project.git("switch", "--quiet", "--create", name, "main")
        sha = self.add(line, at=at)
        self.project.git("switch", "--quiet", "main")
        return sha


def clock(at: str) -> dict[str, str]:
    return {"GIT_COMMITTER_DATE": f"{at}T00:00:00Z"} if at else {}


def weigh(
    history: History,
    axis: str | None = "수익성",
    *,
    engine: str = "analysis",
    now: datetime = NOW,
    **more: Any,
) -> AxisCase:
    workspace = open_workspace(history.project.root)
    with Repository(workspace.root) as repository:
        request = AxisRequest(engine=engine, axis=axis, **more)
        return make_case(repository, workspace, request, now=now)


def figures(case: AxisCase) -> list[int]:
    return [gate.figure for gate in case.gates]


def write(history: History, case: AxisCase, today: date = TODAY) -> tuple[Path, bool]:
    return write_proposal(case, open_workspace(history.project.root), today=today)


def replace_root(project: Project, root: Path) -> Project:
    return Project(root, project.remote)
