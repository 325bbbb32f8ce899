"""A statement in drafts and files: both sides locally, closed vocabularies only in shared files."""

import json
import re
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import msgspec

from coreloop.base.date_range import Days
from coreloop.base.project.settings import CategoryRule, Settings, ToolSettings
from coreloop.base.project.tools import Tool
from coreloop.learn.line import Step
from coreloop.learn.proposals.allowed_lines import Vocabulary
from coreloop.learn.proposals.entry import Counterexample, Statement
from coreloop.learn.proposals.proposal_files import CandidatesFile, markdown, section
from promoting import FILE, statement
from rows import each_row

NOW = datetime(2026, 4, 25, 12, tzinfo=UTC)
DAYS = Days(datetime(2026, 3, 26, tzinfo=UTC).date(), NOW.date())
REFUND = CategoryRule(label="ORD-refund", any=("exchange", "환불"))
WORDS = Vocabulary(
    {
        "analysis": Tool("analysis", FILE, "analysis", ("company", "axis"), frozenset({"margin"})),
        "escalate": Tool("escalate", FILE, "escalate", ("team",), frozenset({"billing"})),
    },
    Settings(categories=(REFUND,), tools={"show": ToolSettings()}, axis_slugs={"growth": "g"}),
)


def read_statement(**changes: Any) -> Statement:
    return msgspec.convert(json.loads(json.dumps(statement(**changes))), Statement)


SHOWN = [
    "- axis: only while company is growth or margin; one of margin, growth",
    "- company: from show().orders[].company",
    "- axis: one of margin, growth",
    "- Always pass company and axis",
    '- axis="growth" fails',
]


@each_row("line", SHOWN)
def test_statement_of_closed_vocabularies_is_shown_without_questions(line: str) -> None:
    local = read_statement(line=line)
    assert local.is_declared(WORDS)
    assert local.shared() == replace(local, example_questions=())
    assert local.labelled(WORDS)["line"] == line


WITHHELD = [
    "- axis: one of margin, growth; before canary",
    "- Call canary first (same axis)",
    "- company: from canary().x",
    "- canary: from show().x",
    "- axis: one of margin, canary",
    '- axis="canary" fails',
    "- what the canary said",
]


@each_row("line", WITHHELD)
def test_statement_with_an_undeclared_word_is_text_of_others_and_is_not_shared(line: str) -> None:
    entry = read_statement(line=line)
    labelled = entry.labelled(WORDS)
    assert (labelled["line"], labelled["untrusted_line"]) == (None, line)
    document = CandidatesFile(generated_at=NOW, window=DAYS, candidates=(), statements=(entry,)).with_ids()
    shared = document.shared(WORDS)
    assert (shared.entries, shared.n_folded) == ((), 1)
    assert entry.key not in repr(shared)
    outside = BLOCK.sub("", section(entry, WORDS))
    assert line not in outside
    assert "it has a name that neither coreloop.yaml nor the source declares" in outside


def test_statement_with_few_on_either_side_is_counted_but_not_listed_in_a_shared_file() -> None:
    few = read_statement(line="- Always pass axis", sides={"n_ok": 50, "n": 61, "other_ok": 1, "other_n": 4})
    statements = (few, read_statement())
    document = CandidatesFile(generated_at=NOW, window=DAYS, candidates=(), statements=statements)
    shared = document.with_ids().shared(WORDS)
    assert shared.n_folded == 1
    assert [entry.line for entry in shared.statements] == ["- company: from show().code"]
    assert few.key not in repr(shared)
    assert "Not listed: 1 of undeclared names, or of fewer than 5 requests." in markdown(shared, WORDS)


def _failing(**changes: Any) -> Counterexample:
    facts: dict[str, Any] = {
        "id": "ce-2026-04-25-001",
        "key": "k",
        "kind": "call",
        "tool": "analysis",
        "selectors": {"axis": "growth"},
        "arg_keys": ("axis", "CANARY", "company"),
        "labels": ("tool_error",),
        "error_class": "other",
        "error_template": "no",
        "n_failures": 3,
        "n_calls": 4,
        "n_other_failures": 1,
        "n_other_calls": 9,
        "harm_low": 0.3,
        "wasted_ms": 1500.0,
        "first_seen": NOW,
        "last_seen": NOW,
    }
    return Counterexample(**{**facts, **changes})


@each_row(
    ("changes", "is_declared"),
    [
        ({"arg_keys": ("axis", "company")}, True),
        ({"arg_keys": ("axis", "CANARY")}, False),
        ({"selectors": {"axis": "CANARY"}}, False),
        ({"steps": (Step("CANARY", {}, ()),)}, False),
        ({"tool": "CANARY"}, False),
    ],
)
def test_a_counterexample_is_declared_if_all_its_calls_are(
    changes: dict[str, Any], is_declared: bool
) -> None:
    failing = _failing(**{"arg_keys": ("axis",), **changes})
    assert failing.is_declared(WORDS) is is_declared
    assert (failing.shared().key, failing.shared().error_template) == ("", None)
    assert (failing.labelled(WORDS)["key"], failing.labelled(WORDS)["untrusted_error_template"]) == (
        "k",
        "no",
    )


HOSTILE = ["# x", "<b>x</b>", "[x](https://e)", "a\n\n# b", "`x`", "*x*", "x_y", "a|b", "a\u202eb", "&lt;"]
BLOCK = re.compile(r"```untrusted\n((?:    .*\n)+)```\n")


@each_row("text", HOSTILE, ids=ascii)
@each_row("field", ["tool", "selectors", "arg_keys", "error_template", "steps"])
def test_a_hostile_text_is_no_markup_and_no_line_of_its_own(field: str, text: str) -> None:
    steps = (Step(text, {text: text}, ()),)
    value = {"selectors": {text: text}, "arg_keys": (text,), "steps": steps}.get(field, text)
    kind = "sequence" if field == "steps" else "call"
    plain = section(_failing(kind=kind, steps=(Step("a", {}, ()),)), WORDS)
    hostile = section(_failing(**{"kind": kind, "steps": (Step("a", {}, ()),), field: value}), WORDS)
    outside = BLOCK.sub("", hostile)
    assert len(outside.splitlines()) == len(BLOCK.sub("", plain).splitlines())
    assert all(line.isprintable() for line in hostile.splitlines())
    for line in outside.splitlines():
        shown = line.removeprefix("## ").replace("`k`", "").replace("tool_error", "")
        assert re.search(r"(?<!\\)[`*_\[\]<>#|&]", shown) is None, line
