"""What workers do, and the figures of it."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from coreloop.answer.repair.evidence import evidence_of_file, fresh_sources, question_key
from coreloop.answer.repair.feedback import give_feedback
from coreloop.answer.repair.jobs import GATES, all_handlers, plan_gates, read_last_day
from coreloop.answer.research.run import answer
from coreloop.runs.jobs.work import work
from repairing import RETURN_QUESTION, SHIP_QUESTION, shop, shop_deps
from researching import MOMENT


def test_a_worker_measures_the_gates_once_a_day(tmp_path: Path):
    with shop_deps(shop(tmp_path)) as deps:
        now = datetime.now(UTC)
        assert plan_gates(deps, now=now) == plan_gates(deps, now=now)
        work(deps.queue, all_handlers(deps), until_idle=True)
        tomorrow, today = deps.queue.jobs()
        assert (today.name, today.status) == (GATES, "done")
        assert (tomorrow.status, tomorrow.run_at.date()) == ("queued", now.date() + timedelta(days=1))
        assert len(deps.tables.snapshots("coverage")) == 1


def test_figures_count_what_happened(tmp_path: Path):
    with shop_deps(shop(tmp_path)) as deps:
        first = answer(RETURN_QUESTION, deps=deps)
        answer(SHIP_QUESTION, deps=deps)
        answer("Who won the chess tournament on Mars?", deps=deps)
        give_feedback(deps, first.run_id, "down")
        plan_gates(deps, now=datetime.now(UTC))
        work(deps.queue, all_handlers(deps), until_idle=True)
        day = read_last_day(deps, now=datetime.now(UTC))
        jobs = deps.queue.metrics()
        later = read_last_day(deps, now=datetime.now(UTC) + timedelta(days=2))
    assert (day.answered, day.feedback) == (2, {"down": 1})
    assert day.unanswered >= 1
    assert (day.evidence["text"] > 0, day.evidence["injected"]) == (True, 1)
    assert day.notice_s is not None
    assert jobs.retry_rate == 0.0
    assert jobs.by_status["done"] >= 3
    assert (later.answered, later.feedback, later.notice_s) == (0, {}, None)


def test_evidence_of_code_is_what_the_docstring_says(tmp_path: Path):
    shop(tmp_path)
    found = evidence_of_file(tmp_path, "rates.py", "What share do gold customers get?", now=MOMENT)
    assert [(one.kind, one.symbol, one.content.splitlines()[0]) for one in found] == [
        ("params", "rate_of", "rate_of parameter customer (str): Id of the customer, 8 digits."),
        ("returns", "rate_of", "rate_of returns (float): Share of the price, 0.15 for gold customers."),
        ("local_file", "rate_of", "def rate_of(customer: str) -> float:"),
    ]
    assert evidence_of_file(tmp_path, "absent.md", "?", now=MOMENT) == []


def test_evidence_of_a_file_that_changed_is_not_used(tmp_path: Path):
    shop(tmp_path)
    kept = evidence_of_file(tmp_path, "docs/returns.md", RETURN_QUESTION, now=MOMENT)
    assert len(list(fresh_sources(tmp_path, kept))) == 1
    (tmp_path / "docs" / "returns.md").write_text("# Returns\n\nNever.\n")
    assert list(fresh_sources(tmp_path, kept)) == []


def test_a_question_has_one_key_whatever_its_case_and_spaces():
    assert question_key("Is  it\nopen?") == question_key("is it OPEN?") != question_key("Is it closed?")
