"""Which recorded requests a line is measured on."""

import json
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from coreloop.base.project.promotion_settings import MeasureSettings
from coreloop.base.project.settings import Settings
from coreloop.base.project.workspace import Workspace
from coreloop.learn.effect.named_failure import named_failure
from coreloop.promote.measure.contexts import (
    MAX_PER_CASE,
    NextCall,
    choose_contexts,
)

LINE = "- priority: never empty"
START = datetime(2026, 4, 1, tzinfo=UTC)


def call(tool: str, ok: bool = True, **args: Any) -> dict[str, Any]:
    return {"name": tool, "args": args, "ok": ok, "error": None if ok else "ValueError: bad"}


def log(tmp_path: Path, *requests: tuple[str, str, list[dict[str, Any]]]) -> Workspace:
    workspace = Workspace(tmp_path, Settings())
    workspace.records_dir.mkdir(parents=True)
    lines = [
        {
            "schema_version": 2,
            "ts": (START + timedelta(minutes=number)).isoformat(),
            "request_id": f"r{number}",
            "question": question,
            "session_hash": session or None,
            "tool_calls": calls,
        }
        for number, (session, question, calls) in enumerate(requests)
    ]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (workspace.records_dir / "2026-04-01.jsonl").write_text(text)
    return workspace


def test_a_context_ends_before_the_call_that_the_line_is_about(tmp_path: Path) -> None:
    calls = [
        call("find", ok=False, q="a"),
        call("update", ok=False, priority=""),
        call("update", priority="low"),
    ]
    workspace = log(tmp_path, ("s", "Make it urgent", calls))
    (context,) = choose_contexts(workspace, "update", named_failure([LINE]), n_about=5, n_controls=5).about
    assert [(before.tool, how) for before, how in context.earlier] == [("find", "failed")]
    assert context.reference == NextCall("update", {"priority": "low"})
    assert context.was_against


def test_what_the_model_had_read_is_asked_where_it_was_kept(tmp_path: Path) -> None:
    calls = [call("find", q="a"), call("update", priority="low")]
    workspace = log(
        tmp_path, ("s", "Make it urgent", calls), ("t", "And this", calls), ("u", "Or this", calls)
    )
    kept = [
        {"name": "find", "args": {"q": "a"}, "result": "T-1", "said": []},
        {"name": "update", "args": {"priority": "low"}, "result": "done", "said": ["now, please"]},
    ]
    lines = [
        {"request_id": "r0", "question": "Make it urgent", "calls": kept},
        {"request_id": "r1", "question": "And this", "calls": kept[1:]},
    ]
    workspace.contexts_dir.mkdir()
    text = "".join(json.dumps(line) + "\n" for line in lines) + "{torn\n"
    (workspace.contexts_dir / "2026-04-01.jsonl").write_text(text)
    chosen = choose_contexts(workspace, "update", named_failure([LINE]), n_about=5, n_controls=5).about
    turns = {context.question: [(turn.role, turn.content) for turn in context.turns] for context in chosen}
    assert turns == {
        "Make it urgent": [
            ("assistant", '{"tool":"find","arguments":{"q":"a"}}'),
            ("user", "The result:\nT-1"),
            ("user", "now, please"),
        ],
        "And this": [],
        "Or this": [],
    }


def test_calls_against_the_line_come_first_and_few_of_a_case(tmp_path: Path) -> None:
    fine = [(f"fine {n}", f"question {n}", [call("update", priority="low")]) for n in range(10)]
    calls = [call("update", ok=False, priority=""), call("update", priority="low")]
    bad = [("one user", f"again {n}", calls) for n in range(10)]
    workspace = log(tmp_path, *fine, *bad)
    found = choose_contexts(workspace, "update", named_failure([LINE]), n_about=6, n_controls=6)
    assert [context.was_against for context in found.about] == [True] * MAX_PER_CASE + [False] * 4
    assert found == choose_contexts(workspace, "update", named_failure([LINE]), n_about=6, n_controls=6)


def test_one_customers_requests_are_a_case_however_they_were_asked(tmp_path: Path) -> None:
    (tmp_path / "data" / "audit").mkdir(parents=True)
    (tmp_path / "data" / "audit" / "case.key").write_text("00" * 32)
    same = [("", f"wording {n}", [call("update", order="W2378156", priority="low")]) for n in range(5)]
    other = [("", f"other {n}", [call("update", order=f"W100000{n}", priority="low")]) for n in range(3)]
    workspace = log(tmp_path, *same, *other)
    found = choose_contexts(workspace, "update", named_failure([LINE]), n_about=8, n_controls=5).about
    assert sorted(Counter(context.case for context in found).values()) == [1, 1, 1, MAX_PER_CASE]


def test_tools_that_no_model_is_asked_about_leave_their_contexts_out(tmp_path: Path) -> None:
    requests = [("s", "one", [call("pay", n=1), call("update")]), ("t", "two", [call("pay", n=2)])]
    workspace = log(tmp_path, *requests)
    quiet = replace(workspace, settings=Settings(measure=MeasureSettings(never_ask=("pay",))))
    failure = named_failure([LINE])
    assert len(choose_contexts(workspace, "update", failure, n_about=5, n_controls=5).controls) == 2
    assert choose_contexts(quiet, "update", failure, n_about=5, n_controls=5).controls == ()
    assert choose_contexts(quiet, "pay", failure, n_about=5, n_controls=5).about == ()


def test_requests_in_which_the_tool_never_worked_count_where_the_line_says_what_is_right(
    tmp_path: Path,
) -> None:
    calls = [call("update", ok=False, priority="")]
    workspace, failure = log(tmp_path, ("s", "one", calls)), named_failure([LINE])
    sizes = {"n_about": 5, "n_controls": 5}
    found = choose_contexts(workspace, "update", failure, **sizes, needs_reference=False).about
    assert [(context.reference, context.was_against) for context in found] == [(None, True)]
    assert choose_contexts(workspace, "update", failure, **sizes).about == ()
