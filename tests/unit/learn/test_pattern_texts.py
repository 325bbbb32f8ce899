"""Proposed texts are built from closed vocabularies, whatever the records hold."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import pytest

from coreloop.base.project.settings import CategoryRule, Settings
from coreloop.base.project.tools import Tool
from coreloop.learn.line import Step, statement_key, target_step
from coreloop.learn.proposals.allowed_lines import Vocabulary
from coreloop.learn.proposals.draft import draft_candidate
from coreloop.learn.proposals.entry import Candidate
from coreloop.learn.proposals.proposal_files import markdown
from coreloop.learn.propose import PatternResult, propose
from hostile import INJECTED, is_silent
from logs import call, failed, on_days, repeated, rest, word
from rows import slow_after
from samples import ALWAYS, START, mined

TOOLS = {
    "analysis": Tool(
        "analysis", "lab/axes.py", "analysis", ("company", "axis"), frozenset({"수익성", "배당"})
    ),
    "show": Tool("show", "lab/show.py", "Pages.show", ("topic",), frozenset()),
}
SETTINGS = Settings(
    categories=(CategoryRule(label="FIN-profitability-KR", any=("수익성", "마진", "ROE")),),
    axis_slugs={"현금흐름": "cash-flow"},
)
SOURCE = '''
AXES = {"수익성": 1, "배당": 2}


def analysis(company, axis="수익성"):
    """A docstring that says CANARY."""


def show(topic):
    """Shows a page."""
'''


def _candidate(*steps: Step, **changes: Any) -> Candidate:
    facts: dict[str, Any] = {
        "key": "k",
        "engine": target_step(steps).name,
        "axis": None,
        "cat_hash": "FIN-profitability-KR",
        "seq_hash": "seq:1",
        "tool_pattern": steps,
        "n_observed": 12,
        "n_unique_questions": 9,
        "n_sessions": 5,
        "success_rate": 1.0,
        "success_low": 0.7575,
        "base_rate": 0.61,
        "rest_ok": 38,
        "rest_n": 70,
        "q_value": 0.01,
        "n_begun": 12,
        "first_seen": datetime(2026, 3, 26, tzinfo=UTC),
        "last_seen": datetime(2026, 4, 25, tzinfo=UTC),
        "example_questions": (),
    }
    return Candidate(**{**facts, **changes})


def _body(*steps: Step, settings: Settings = SETTINGS, **changes: Any) -> list[str]:
    drafted = draft_candidate(_candidate(*steps, **changes), Vocabulary(TOOLS, settings))
    assert drafted.suggested_append is not None, drafted.refused
    return drafted.suggested_append.body.splitlines()


ANALYSIS = Step("analysis", {"axis": "수익성"}, ("axis", "company"))
SHOW = Step("show", {}, ("topic",))


def test_a_guide_has_two_lines_when_and_which_calls():
    assert _body(ANALYSIS, SHOW) == [
        "- When: questions of category FIN-profitability-KR.",
        '- Call: analysis(company, axis="수익성") -> show(topic).',
    ]


@pytest.mark.parametrize(
    ("figures", "reason"),
    [
        pytest.param(
            {"rest_ok": 500, "rest_n": 520, "q_value": 0.41},
            "weak: 12 of 12 that began it succeeded, 500 of 520 of the rest of its category",
            id="as good as the rest",
        ),
        pytest.param(
            {"n_observed": 11, "n_begun": 53, "rest_ok": 70, "q_value": 0.001},
            "weak: 11 of 53 that began it succeeded, 70 of 70 of the rest of its category",
            id="worse, and sure",
        ),
        pytest.param(
            {"q_value": None},
            "weak: 12 of 12 that began it succeeded, 38 of 70 of the rest of its category",
            id="not tested",
        ),
        pytest.param(
            {"rest_ok": 0, "rest_n": 0, "q_value": 1.0},
            "weak: all requests of its category begin alike",
            id="alone in its category",
        ),
    ],
)
def test_a_sequence_not_better_than_its_category_is_weak(figures: dict[str, Any], reason: str):
    drafted = draft_candidate(_candidate(ANALYSIS, **figures), Vocabulary(TOOLS, SETTINGS))
    assert (drafted.suggested_append, drafted.refused) == (None, reason)


@pytest.mark.parametrize(
    ("selector", "written"),
    [
        pytest.param("수익성", 'axis="수익성"', id="a literal of the source"),
        pytest.param("현금흐름", 'axis="현금흐름"', id="declared in coreloop.yaml"),
        pytest.param("비밀 CANARY", "axis=<axis>", id="neither"),
        pytest.param('x") and more("', "axis=<axis>", id="a way out of the quotes"),
    ],
)
def test_the_value_of_a_selector_is_written_only_if_declared(selector: str, written: str):
    assert _body(Step("analysis", {"axis": selector}, ("axis",)))[1] == f"- Call: analysis({written})."


def test_a_sequence_whose_line_would_be_too_long_has_no_text():
    steps = [Step("analysis", {"axis": "수익성"}, ("axis", "company")) for _ in range(12)]
    drafted = draft_candidate(_candidate(*steps), Vocabulary(TOOLS, SETTINGS))
    assert drafted.refused == "- Call line: it is longer than 400 characters"


# --- from records to text --------------------------------------------------------------------------


def _propose(folder: Path, records: list[dict[str, Any]], settings: Settings = SETTINGS) -> PatternResult:
    (folder / "lab").mkdir(exist_ok=True)
    (folder / "lab" / "axes.py").write_text(SOURCE, encoding="utf-8")
    return propose(mined(folder, records, settings), ALWAYS, now=START)


def _published(result: PatternResult) -> str:
    """Everything that is published."""
    document = result.document.with_ids().shared(result.words)
    return orjson.dumps(document, option=orjson.OPT_INDENT_2).decode() + markdown(document, result.words)


QUICK = 4
"""The first of them are tried in every run, the rest in slow ones."""
EVERY_TEXT = [*INJECTED[:QUICK], *(pytest.param(text, marks=pytest.mark.slow) for text in INJECTED[QUICK:])]


@pytest.mark.parametrize("text", slow_after(9, EVERY_TEXT))
@pytest.mark.parametrize(
    "place", ["question", "value", "selector", "argument", "tool", "category", "session", "provider", "error"]
)
def test_no_recorded_text_reaches_the_proposed_lines(place: str, text: str, tmp_path: Path):
    same = repeated(5, tool_calls=[call("analysis", {"axis": "수익성"}), call("show", {"topic": "a"})])
    rows = [*same, *rest()]
    for number, row in enumerate(rows):
        row["tool_calls"] = [dict(recorded) for recorded in row["tool_calls"]]
        first, last = row["tool_calls"][0], row["tool_calls"][-1]
        if place == "question":
            row["question"] = f"{text} {word(number)} 회사{word(number)}"
        elif place == "value":
            last["args"] = {"topic": text}
        elif place == "selector":
            first["args"] = {"axis": text, "sub": text}
        elif place == "argument":
            last["args"] = {text: 1, "topic": "a"}
        elif place == "tool":
            first["name"] = f"{text} tool"
        elif place == "category":
            row["category_hash"] = f"{text} category"
        elif place == "error":
            row["tool_calls"].insert(0, call("show", ok=False, error=text))
            row["error"] = row["error"] and text
        else:
            row[{"session": "session_hash"}.get(place, place)] = text
    proposals = _propose(tmp_path, rows)
    (candidate,) = proposals.document.candidates
    if place == "tool":
        assert (candidate.suggested_append, candidate.refused) == (None, "a tool's name is not a valid name")
    elif place in {"session", "category"}:  # one case is compared with none, and no label is no category
        assert candidate.refused is not None
        assert candidate.refused.startswith("weak: ")
    else:
        assert candidate.suggested_append is not None, candidate.refused
        assert is_silent(candidate.suggested_append.body)
    assert is_silent(_published(proposals))


def test_published_keys_do_not_cover_undeclared_values(tmp_path: Path):
    """An attacker could otherwise check guessed names against the key in a pull request."""
    rows = [
        row
        for axis in ("정하린", "김서연", "배당")
        for row in repeated(3, tool_calls=[call("analysis", {"axis": axis})])
    ]
    keys = {candidate.axis: candidate.key for candidate in _propose(tmp_path, rows).document.candidates}
    assert len(keys) == 2  # the texts of both names would be the same
    guesses = {
        axis: statement_key("FIN-profitability-KR", f"analysis(axis={axis})", "Guide")
        for axis in ("정하린", "김서연", "배당")
    }
    assert keys.pop("배당") == guesses["배당"]
    assert set(keys.values()).isdisjoint(guesses.values())


def test_a_sequence_whose_calls_are_against_a_statement_is_not_proposed(tmp_path: Path):
    axis, other = {"axis": "수익성"}, {"category_hash": "OTHER"}
    wrong = repeated(100, **other, tool_calls=[failed("analysis", axis)], error="ValueError: no")
    right = repeated(100, **other, tool_calls=[call("analysis", {**axis, "company": "a"})])
    own = repeated(5, tool_calls=[call("analysis", axis), call("show", {"topic": "a"})])
    candidate, _ = _propose(tmp_path, on_days([*own, *rest(), *wrong, *right])).document.candidates
    assert candidate.refused == "its calls are against analysis: Always pass company"
