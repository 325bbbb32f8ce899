"""Counterexamples are evidence; statements are built from closed vocabularies, whatever was recorded."""

from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from typing import Any

import orjson
import pytest

from coreloop.base.project.settings import Settings
from coreloop.learn.line import parse_advice
from coreloop.learn.proposals.allowed_lines import refuse_line
from coreloop.learn.proposals.entry import Statement, SuggestedAppend
from coreloop.learn.proposals.proposal_files import markdown
from coreloop.learn.propose import RefineResult, refine
from hostile import INJECTED, is_silent
from logs import call, failed, on_days, record, word
from rows import slow_after
from samples import ALWAYS, mined
from weekly import WEEKLY

NOW = datetime(2026, 4, 25, tzinfo=UTC)
SETTINGS = Settings(axis_slugs={"현금흐름": "cash-flow"})


# --- from records to statements --------------------------------------------------------------------

SIGNATURES = (
    'analysis(company="", axis="수익성")',
    'escalate(team="billing")',
    "mail(to, cc=None)",
    *("pay(amount)", "page(topic)", "change(order_id)", "cancel(order_id)", "edit(order_id)"),
    *("ship(address)", "lookup(person)"),
)
DEFINED = (f'\n\ndef {one}:\n    """A docstring that says CANARY."""\n' for one in SIGNATURES)
SOURCE = 'TOPICS = ("refund", "shipping")\n' + "".join(DEFINED)
LINES = {
    "analysis": "- Always pass company",
    "pay": "- amount: at most 140",
    "page": "- topic: one of refund, shipping",
    "mail": "- Leave out cc",
    "ship": "- address: from lookup().address",
}
PLACES = ["question", "error", "violation", "value", "selector", "argument", "field", "tool", "tool-phrase"]
PLACES += ["category", "provider", "model", "session"]
FIRST = [(place, INJECTED[0]) for place in PLACES[:4]]
OTHERS = [pair for pair in product(PLACES, INJECTED) if pair not in FIRST]
if not WEEKLY:  # of 13 places by 11 texts: each place with two texts or three, each text at two or more
    OTHERS = OTHERS[::4]


def _log() -> Iterator[dict[str, Any]]:
    """40 requests of each scenario, in which calls of seven tools fail for seven reasons."""
    for number in range(40):
        name = word(number)
        company, order = {"company": f"회사{name}", "axis": "수익성"}, {"order_id": f"주문{name}"}
        address, done = {"address": f"주소{name}"}, call("done")
        sent = call("ship", address, args_from={"address": ["lookup.address"]})
        elsewhere = {"args_from": {"address": ["analysis.address"]}}
        scenarios = [
            [failed("analysis", {"axis": "수익성"}), done],
            [call("analysis", company)],
            [
                failed("pay", {"amount": 900 + number}, "PermissionError: no"),
                call("escalate", {"team": "billing"}),
            ],
            [call("pay", {"amount": 100 + number})],
            [failed("page", {"topic": f"주제{name}"}), done],
            [call("page", {"topic": ("refund", "shipping")[number % 2]})],
            [call("edit", order), failed("change", order), done],
            [call("change", order), call("edit", order)],
            [call("cancel", order), failed("cancel", order), done],
            [failed("mail", {"to": name, "cc": name}), done],
            [call("mail", {"to": name})],
            [call("lookup", {"person": name}), {**failed("ship", address), **elsewhere}, done],
            [call("lookup", {"person": name}), sent],
        ]
        for index, calls in enumerate(scenarios):
            yield record(question=f"질문 {name} {word(1000 + index)}", tool_calls=calls)
        yield record(
            question=f"질문 {name} {word(2000)}", tool_calls=[call("tell"), done], error="ValueError: no"
        )


def _refine(folder: Path, rows: list[dict[str, Any]], source: str = SOURCE) -> RefineResult:
    (folder / "lab").mkdir(exist_ok=True)
    (folder / "lab" / "axes.py").write_text(source, encoding="utf-8")
    return refine(mined(folder, rows, SETTINGS), ALWAYS, now=NOW)


def _written(refined: RefineResult, *, sanitized: bool) -> str:
    document = refined.document.with_ids()
    document = document.shared(refined.words) if sanitized else document
    return orjson.dumps(document, option=orjson.OPT_INDENT_2).decode() + markdown(document, refined.words)


def test_what_sets_failed_calls_apart_goes_into_the_definition_of_the_tool(tmp_path: Path) -> None:
    refined = _refine(tmp_path, on_days(_log()))
    assert {statement.tool: statement.line for statement in refined.document.statements} == LINES
    for statement in refined.document.statements:
        tool, line = statement.tool, statement.line
        assert statement.suggested_append == SuggestedAppend("lab/axes.py", tool, "Caveats", line)
        assert refuse_line(line) is None
    failing = {example.tool for example in refined.document.counterexamples}
    assert failing == {*LINES, "change", "cancel", "done"}


@pytest.mark.parametrize("source", ["", f"{SOURCE}\n\n{SOURCE}"], ids=["none", "two"])
def test_a_statement_about_a_tool_without_one_definition_is_not_proposed(source: str, tmp_path: Path) -> None:
    refined = _refine(tmp_path, on_days(_log()), source)
    assert refined.document.statements == ()
    assert set(refined.found.undefined) >= set(LINES) - {"page"}  # its values stand in the source


def _hostile(row: dict[str, Any], place: str, text: str, number: int) -> dict[str, Any]:
    """A record of the log with a hostile text in some place."""
    calls = [{**made_call, "args": dict(made_call["args"])} for made_call in row["tool_calls"]]
    for made_call in calls:
        args = made_call["args"]
        if place == "value":
            made_call["args"] = {
                name: value
                if name in {"amount", "axis"} or (name == "topic" and made_call["ok"])
                else f"{text}{value}"
                for name, value in args.items()
            }
        elif place == "selector":
            args |= {"axis": text, "sub": text}
        elif place == "argument" and made_call["name"] in {"mail", "analysis"}:
            renamed = {"cc": text, "company": text}
            made_call["args"] = {renamed.get(name, name): value for name, value in args.items()}
        elif place == "field" and made_call["ok"] and made_call["name"] == "ship":
            made_call["args_from"] = {"address": [f"lookup.{text}!", f"lookup. {text}[]", f"{text}.address"]}
        elif place in {"tool", "tool-phrase"} and made_call["name"] in {
            "edit",
            "escalate",
            "cancel",
            "lookup",
        }:
            made_call["name"] = text if place == "tool" else f"{text} tool"
        elif place == "error" and not made_call["ok"]:
            made_call["error"] = f"{text} {number}"
    field = {"category": "category_hash", "session": "session_hash"}.get(place, place)
    changed = {field: text} if place in {"violation", "category", "provider", "model", "session"} else {}
    if place == "question":
        changed = {"question": f"{row['question']} {text}"}
    if place == "error" and row["error"]:
        changed = {"error": text}
    return {**row, "tool_calls": calls, **changed}


@pytest.mark.parametrize(("place", "text"), slow_after(len(FIRST), [*FIRST, *OTHERS]))
def test_no_recorded_text_reaches_the_proposed_lines(place: str, text: str, tmp_path: Path) -> None:
    refined = _refine(tmp_path, on_days(_hostile(row, place, text, n) for n, row in enumerate(_log())))
    if place == "session":  # one session is one case, from which nothing follows
        assert refined.document.statements == ()
        return
    is_strange = place == "argument" and not text.isidentifier()  # such a name is in no line
    assert len(refined.document.statements) >= (3 if is_strange else 4)
    assert sum(s.suggested_append is not None for s in refined.document.statements) >= 3
    for statement in refined.document.statements:
        if not is_silent(statement.line):
            assert place in {"argument", "tool"}
            _assert_a_plain_name_is_not_published(statement)
    assert {statement.kind for statement in refined.document.counterexamples} == {"call", "sequence"}
    for counterexample in refined.document.counterexamples:
        assert counterexample.suggested_append is None
    published = _written(refined, sanitized=True)
    assert is_silent(published.replace('"cat_hash": "CANARY"', ""))  # a category's label is its own


def _assert_a_plain_name_is_not_published(statement: Statement) -> None:
    """The local draft may show a recorded name, but it is never published or written to a docstring."""
    parsed = parse_advice(statement.line)
    assert parsed is not None
    assert any("CANARY" in name for name in (*parsed.tools, *parsed.arguments))
    if statement.tool in LINES:
        assert (statement.suggested_append, bool(statement.refused)) == (None, True)
    else:
        assert statement.suggested_append is None or statement.suggested_append.target_file is None
