"""A run that has ended has its record, once, whatever happened to its process just after its end."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from coreloop.answer.deps import Deps, open_deps
from coreloop.answer.repair.jobs import all_handlers, queue_run
from coreloop.answer.research import run as researches
from coreloop.answer.research.research_state import ASK, Request
from coreloop.answer.research.run import begin_research
from coreloop.runs.jobs.work import work
from coreloop.runs.manage import stop_run
from coreloop.runs.stores.store import open_store
from researching import project

QUESTION = "How long is the Han river?"
KINDS: dict[str, Callable[[Deps], str]] = {
    "research": lambda deps: begin_research(QUESTION, Request(tier="simple"), deps),
    "ask": lambda deps: begin_research(QUESTION, Request(), deps, kind=ASK),
}


class Killed(BaseException):
    """Ends a worker as SIGKILL does: nothing after it is done."""


def recorded(folder: Path) -> list[str]:
    lines = [
        line for path in folder.glob("data/audit/own/*.jsonl") for line in path.read_bytes().splitlines()
    ]
    return [json.loads(line)["request_id"] for line in lines]


@pytest.fixture
def deps(tmp_path: Path):
    workspace = project(tmp_path)
    with open_store(workspace, environ={}) as store, open_deps(workspace, store, {}) as deps:
        yield deps


def work_off(deps: Deps) -> None:
    work(deps.queue, all_handlers(deps), until_idle=True)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("is_before", [True, False], ids=["before the record", "after the record"])
def test_a_process_that_dies_after_the_end_leaves_one_record(
    deps: Deps, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, is_before: bool
):
    keep = researches.keep_ended

    def die(*words: Any) -> None:
        if not is_before:
            keep(*words)
        raise Killed

    run_id = KINDS[kind](deps)
    queue_run(deps.queue, kind, run_id)
    monkeypatch.setattr(researches, "keep_ended", die)
    with pytest.raises(Killed):
        work_off(deps)
    assert recorded(tmp_path) == ([] if is_before else [run_id])
    monkeypatch.setattr(researches, "keep_ended", keep)
    work_off(deps)  # the job was given back, as at the end of its lease
    assert recorded(tmp_path) == [run_id]
    assert deps.queue.metrics().by_status == {"done": 1}
    if kind == "ask":
        assert deps.tables.has_answer(run_id)


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_that_was_stopped_before_it_began_has_a_record(deps: Deps, tmp_path: Path, kind: str):
    run_id = KINDS[kind](deps)
    queue_run(deps.queue, kind, run_id)
    stop_run(deps.store, run_id)
    work_off(deps)
    assert recorded(tmp_path) == [run_id]
