"""A statement in drafts and files: both sides locally, closed vocabularies only in shared files."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from coreloop.base.date_range import Days
from coreloop.base.project.settings import CategoryRule, Settings, ToolSettings
from coreloop.base.project.tools import Tool
from coreloop.learn.proposals.entry import Candidate, Counterexample, Sides, Statement, sides_text
from coreloop.learn.proposals.page import counterexamples_markdown, section
from coreloop.learn.proposals.proposal_files import (
    CANDIDATES,
    CandidatesFile,
    CounterexamplesFile,
    new_keys,
    write_night,
)
from coreloop.learn.proposals.vocabulary import Vocabulary
from promoting import FILE, candidate, counterexample, statement
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


def test_all_counts_of_both_sides_have_the_comma_of_thousands() -> None:
    sides = Sides(n_ok=4059, n=4958, other_ok=1000, other_n=2000, cases=1, other_cases=1)
    entry = read_statement()
    assert sides_text(entry, sides) == (
        "follows: 4,059 of 4,958 calls, 1 customer; does not: 1,000 of 2,000, 1 customer"
    )
    assert str(sides) == "4,059 of 4,958, otherwise 1,000 of 2,000"


def test_section_has_both_sides_and_what_they_are_of() -> None:
    assert section(read_statement(key="0123456789abcdef", kind="presence"), WORDS) == (
        "\n## ce-2026-04-25-001: analysis: company: from show().code\n\n"
        "- presence, key `0123456789abcdef`\n"
        "- follows: 58 of 61 calls, 31 customers; does not: 17 of 26, 12 customers\n"
        "- the last third of the days: follows: 12 of 14 calls, 8 customers; does not: 10 of 21, "
        "7 customers\n"
        "- difference 0.30 (0.12 to 0.49), q 0.003 (95 %)\n"
        "- per 1,000 requests: at least 12.3 calls wasted, 1.5 to 4.0 requests lost\n"
        "- 15 distinct questions, 2026-03-26 to 2026-04-25\n"
        f"- target: {FILE}::analysis\n\n"
        "    Caveats\n    -------\n    - company: from show().code\n\n"
        "From the records, with example questions:\n\n```untrusted\n    첫째 질문?\n```\n"
    )


def test_refused_statement_says_why_and_has_no_target() -> None:
    shown = section(read_statement(suggested_append=None, refused="weak: a reason"), WORDS)
    assert "- target: none" in shown
    assert "Refused: weak: a reason." in shown


def test_text_without_a_target_says_what_to_do() -> None:
    nowhere = {**statement()["suggested_append"], "target_file": None}
    assert "- target: not known; name the tool under tools:" in section(
        read_statement(suggested_append=nowhere), WORDS
    )


def test_markup_in_recorded_text_is_escaped() -> None:
    hostile = read_statement(
        tool="<img>", line="- a: from b().c[](x)\n# z", example_questions=["# q\n\x1b[2J", ""]
    )
    shown = section(hostile, WORDS)
    assert r": \[REDACTED 5\]: \[REDACTED 24\]" in shown
    block = "```untrusted\n    <img>: a: from b().c[](x)\\u{a}# z\n    # q\\u{a}\\u{1b}[2J\n```\n"
    assert shown.endswith(block)


def test_the_draft_lists_statements_first() -> None:
    statements = (read_statement(), read_statement(id="x-2"))
    failing = (msgspec.convert(counterexample(id="x-3"), Counterexample),)
    document = CounterexamplesFile(
        counterexamples=failing, statements=statements, generated_at=NOW, window=DAYS
    )
    page = counterexamples_markdown(document, WORDS)
    ids = [entry.id for entry in document.entries]
    assert ids == ["cand-2026-04-25-001", "x-2", "x-3"]
    assert [line.split(" ")[1][:-1] for line in page.splitlines() if line.startswith("## ")] == ids


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
    shown = local.shared(WORDS)
    assert (shown.line, shown.key, shown.tool, shown.refused) == (line, local.key, "analysis", None)
    assert shown.suggested_append == local.suggested_append
    assert (shown.example_questions, shown.providers) == ((), {"[REDACTED]": 87})


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
def test_statement_with_an_undeclared_word_is_withheld(line: str) -> None:
    shown = read_statement(line=line).shared(WORDS)
    assert (shown.key, shown.line, shown.suggested_append) == ("", f"[REDACTED {len(line)}]", None)
    assert str(shown.refused).startswith("withheld: contains a name that neither")
    assert "canary" not in repr(shown)


def test_statement_of_an_unknown_tool_or_without_text_is_withheld() -> None:
    unknown = read_statement(tool="canary").shared(WORDS)
    assert (unknown.tool, unknown.key, unknown.line) == ("[REDACTED 6]", "", "[REDACTED 27]")
    refused = read_statement(refused="a canary", suggested_append=None).shared(WORDS)
    assert "canary" not in repr(refused)


def night(folder: Path, entries: list[Any], *, sanitized: bool = False) -> CandidatesFile:
    document = CandidatesFile(
        generated_at=NOW,
        window=DAYS,
        candidates=tuple(entry for entry in entries if isinstance(entry, Candidate)),
        statements=tuple(entry for entry in entries if isinstance(entry, Statement)),
    )
    return write_night(
        folder,
        document,
        lambda document, words: "draft",
        words=WORDS,
        kind=CANDIDATES,
        sanitized=sanitized,
        n_records=1,
    )[0]


def test_statements_and_candidates_share_one_numbering(tmp_path: Path) -> None:
    first, second = read_statement(), read_statement(line="- Always pass axis")
    sequence = msgspec.convert(candidate(), Candidate)
    document = night(tmp_path, [first, sequence])
    assert [(type(entry).__name__, entry.id) for entry in document.entries] == [
        ("Statement", "cand-2026-04-25-001"),
        ("Candidate", "cand-2026-04-25-002"),
    ]
    again = night(tmp_path, [second, first, sequence])
    assert [entry.id[-3:] for entry in again.entries] == ["003", "001", "002"]


def test_statement_with_few_on_either_side_is_counted_but_not_listed_in_a_shared_file(tmp_path: Path) -> None:
    few = read_statement(line="- Always pass axis", sides={"n_ok": 50, "n": 61, "other_ok": 1, "other_n": 4})
    document = night(tmp_path, [few, read_statement()], sanitized=True)
    assert document.n_folded == 1
    assert [entry.line for entry in document.statements] == ["- company: from show().code"]
    assert few.key not in (tmp_path / "2026-04-25-candidates.json").read_text()


def test_a_repeated_statement_is_listed_once() -> None:
    new, dropped = new_keys(
        [read_statement(), read_statement(id="x"), read_statement(line="- Always pass axis")],
        {read_statement(tool="b").key},
    )
    assert ([entry.line for entry in new], dropped) == (
        ["- company: from show().code", "- Always pass axis"],
        {"same_text": 1},
    )


def test_a_statements_line_begins_with_its_tool() -> None:
    assert read_statement().text == "analysis: company: from show().code"
