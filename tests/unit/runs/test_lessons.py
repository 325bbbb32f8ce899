"""What iterations teach: orders of drift, failed searches and what came after them, credited when used."""

from typing import Any

from coreloop.runs.agent.agent_report import AgentReport, Learnt, Query, ReportedAction
from coreloop.runs.agent.next_step import next_step
from coreloop.runs.lessons import read_reflexion
from coreloop.runs.manage import create_run, read_run
from coreloop.runs.stores.store import Store
from running import record_report

QUESTION = "Why did revenue of the shop rise?"


def open_run(store: Store) -> str:
    return create_run(store, QUESTION, kind="agent", drives_itself=True)


def step(store: Store, run_id: str, strategy: tuple[str, ...], source: str = "", **more: Any) -> None:
    """An iteration; with a source it brings news."""
    found = (Learnt("up", (source,)),) if source else ()
    queries = more.pop("queries", (Query(f"revenue {strategy} {source}", 1, success=True),))
    record_report(
        store,
        run_id,
        AgentReport(actions=(ReportedAction("web", strategy),), findings=found, queries=queries),
    )


def failures(store: Store) -> list[tuple[str, str, str]]:
    known = read_reflexion(store.reflexion("agent"))
    return [(failure.root_cause, failure.solution, failure.result) for failure in known.failures]


def test_an_order_of_drift_is_a_failure_and_what_follows_it_its_result(store: Store):
    run_id = open_run(store)
    for number in range(3):
        step(store, run_id, ("recent", "web"), f"s{number}")
    (order,) = [next_step(store, read_run(store, run_id))["drift"]]
    solution = " > ".join(order["after"])
    cause = "the same action again and again: recent > web"
    assert failures(store) == [(cause, solution, "")]
    step(store, run_id, tuple(order["after"]), "s9")
    assert failures(store) == [(cause, solution, "progress")]


def test_a_failed_search_and_the_next_that_worked_are_one_lesson(store: Store):
    run_id = open_run(store)
    failed = Query("revenue of the shop 2025", 0, success=False)
    step(store, run_id, ("recent",), queries=(failed,))
    assert failures(store) == []  # what comes after it is not known yet
    step(store, run_id, ("broad",), "s1", queries=(Query("annual report of the shop", 3, success=True),))
    assert failures(store) == [
        ("no result: revenue of the shop 2025", "search: annual report of the shop", "progress")
    ]
    step(store, run_id, ("broad",), "s2", queries=(Query("another report", 3, success=True),))
    assert len(failures(store)) == 1
