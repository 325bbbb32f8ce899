"""A run that has ended has its record, once, whatever happened to its process just after its end."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from coreloop.answer.repair import run as answers
from coreloop.answer.repair.case import Asked
from coreloop.answer.repair.desk import RepairDesk, open_repair_desk
from coreloop.answer.repair.queued import queue_run, run_handlers
from coreloop.answer.repair.run import begin_answer
from coreloop.answer.research import run as researches
from coreloop.answer.research.knowledge import Request
from coreloop.answer.research.run import begin_research
from coreloop.runs.control import stop_run
from coreloop.runs.jobs.work import work
from coreloop.runs.stores.store import open_store
from researching import project

QUESTION = "How long is the Han river?"
KINDS: dict[str, Callable[[RepairDesk], str]] = {
    "research": lambda desk: begin_research(QUESTION, Request(tier="simple"), desk.desk),
    "ask": lambda desk: begin_answer(QUESTION, Asked(), desk),
}


class Killed(BaseException):
    """Ends a worker as SIGKILL does: nothing after it is done."""


def recorded(folder: Path) -> list[str]:
    lines = [
        line for path in folder.glob("data/audit/own/*.jsonl") for line in path.read_bytes().splitlines()
    ]
    return [json.loads(line)["request_id"] for line in lines]


@pytest.fixture
def desk(tmp_path: Path):
    workspace = project(tmp_path)
    with open_store(workspace, environ={}) as store, open_repair_desk(workspace, store, {}) as desk:
        yield desk


def work_off(desk: RepairDesk) -> None:
    work(desk.queue, run_handlers(desk), until_idle=True)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("is_before", [True, False], ids=["before the record", "after the record"])
def test_a_process_that_dies_after_the_end_leaves_one_record(
    desk: RepairDesk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, is_before: bool
):
    module: Any = researches if kind == "research" else answers
    name = "record_research" if kind == "research" else "learn"
    keep = getattr(module, name)

    def die(*words: Any) -> None:
        if not is_before:
            keep(*words)
        raise Killed

    run_id = KINDS[kind](desk)
    queue_run(desk.queue, kind, run_id)
    monkeypatch.setattr(module, name, die)
    with pytest.raises(Killed):
        work_off(desk)
    assert recorded(tmp_path) == ([] if is_before else [run_id])
    monkeypatch.setattr(module, name, keep)
    work_off(desk)  # the job was given back, as at the end of its lease
    assert recorded(tmp_path) == [run_id]
    assert desk.queue.metrics().by_status == {"done": 1}
    if kind == "ask":
        assert desk.tables.has_answer(run_id)


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_that_was_stopped_before_it_began_has_a_record(desk: RepairDesk, tmp_path: Path, kind: str):
    run_id = KINDS[kind](desk)
    queue_run(desk.queue, kind, run_id)
    stop_run(desk.desk.store, run_id)
    work_off(desk)
    assert recorded(tmp_path) == [run_id]


def test_a_replay_has_none(desk: RepairDesk, tmp_path: Path):
    run_id = begin_answer(QUESTION, Asked(is_replay=True), desk)
    queue_run(desk.queue, "ask", run_id)
    stop_run(desk.desk.store, run_id)
    work_off(desk)
    assert recorded(tmp_path) == []
