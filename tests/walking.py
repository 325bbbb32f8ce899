"""Runs that a coding agent drives, for tests: a project in git with files to read, a plan, reports."""

import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import orjson

from coreloop.answer.agent.agent_state import opening_events
from coreloop.answer.agent.plan import PlannedIteration, plan_iteration, read_plan
from coreloop.answer.agent.record import RecordedIteration, Shown, read_source, record_iteration
from coreloop.answer.repair.store import read_rejections
from coreloop.answer.search.page import PageReader
from coreloop.base.project.workspace import open_workspace
from coreloop.runs.agent.agent_report import read_report
from coreloop.runs.limits import Limits, Mode
from coreloop.runs.load import load_run
from coreloop.runs.manage import begin_run
from coreloop.runs.state import AGENT, State
from coreloop.runs.stores.store import Store, open_store
from running import MOMENT

QUESTION = "How long is the Han river, and who measured it?"
LENGTH = "The Han river is 494 kilometres long."
SEOUL = "The Han river flows through Seoul."
SURVEY = "The river survey of 1998 measured the length of the Han river."
PARTS = (
    "How long is the Han river?",
    "Through which city does the Han river flow?",
    "Which survey measured the length of the Han river?",
)
FILES = {"docs/han.md": f"# Han river\n\n{LENGTH} {SEOUL}\n", "docs/survey.md": f"# Survey\n\n{SURVEY}\n"}
_QUERIES = {
    "web": ("han river length", "seoul city waterways", "korean river tourism"),
    "academic": ("site:arxiv.org basin hydrology", "site:semanticscholar.org estuary sediment"),
    "technical": ("site:github.com shoreline dataset", "satellite gauge calibration"),
    "counter-evidence": ("han river length dispute", "survey error correction", "wrong source spring"),
}


@dataclass(slots=True)
class Walk:
    """A run and its store."""

    root: Path
    store: Store
    run_id: str = ""

    @property
    def state(self) -> State:
        return load_run(self.store, self.run_id)[0].state

    def open(self, question: str = QUESTION, *, mode: Mode = "bounded", **limits: Any) -> str:
        workspace = open_workspace(self.root)
        first, tight = opening_events(self.root), Limits(**limits)
        self.run_id = begin_run(
            workspace, self.store, question, kind=AGENT, mode=mode, limits=tight, first=first, now=MOMENT
        )
        return self.run_id

    def read(self, place: str, text: str | None = None, **more: Any) -> Shown:
        pages = more.pop("pages", None) or PageReader()
        return read_source(self.store, self.run_id, place, root=self.root, pages=pages, text=text, **more)

    def plan(self, *candidates: Mapping[str, Any], parts: tuple[str, ...] = PARTS) -> PlannedIteration:
        given = {"sub_questions": parts, "candidates": candidates or self.candidates()}
        return plan_iteration(self.store, self.run_id, read_plan(orjson.dumps(given)))

    def candidates(self) -> list[dict[str, Any]]:
        """Ten candidates, other ones in each iteration."""
        number = self.state.iteration
        return [
            {"query": f"{query} {2000 + number}" if number else query, "intent": intent}
            for intent, queries in _QUERIES.items()
            for query in queries
        ]

    def record(self, *findings: Mapping[str, Any], **more: Any) -> RecordedIteration:
        number = self.state.iteration + 1
        query = {"query": f"subject {number}", "results_count": 1, "success": True}
        report = {"queries": [query], "findings": findings, **more}
        rejections = partial(read_rejections, open_workspace(self.root), {})
        given = read_report(orjson.dumps(report))
        return record_iteration(self.store, self.run_id, given, rejections=rejections)


def executed(*queries: str) -> list[dict[str, Any]]:
    """Searches as a report has them."""
    return [{"query": query, "results_count": 3, "success": True} for query in queries]


def finding(text: str, source: Any, part: str | None = None, **more: Any) -> dict[str, Any]:
    """A finding that quotes a source with its own words."""
    answers = {"answers": part} if part else {}
    return {"text": text, "quote": text, "sources": [source], **answers, **more}


@contextmanager
def walk_in(root: Path, files: Mapping[str, str] = FILES) -> Iterator[Walk]:
    """A project in git with files, and an open run."""
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    commit(root)
    with open_store(open_workspace(root)) as store:
        walk = Walk(root, store)
        walk.open()
        yield walk


def commit(root: Path) -> None:
    """Commit all files of a folder; the first commit makes the repository."""
    who = ("-c", "user.name=a", "-c", "user.email=a@example.com")
    for words in (("init", "-q"), ("add", "-A"), (*who, "commit", "-q", "-m", "files")):
        subprocess.run(["git", *words], cwd=root, check=True, capture_output=True)
