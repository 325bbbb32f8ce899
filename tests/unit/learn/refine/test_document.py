"""The two files of a night of refining: stable ids, redaction on demand, no markup injection."""

import json
import re
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest

from coreloop.base.date_range import Days
from coreloop.base.project.promotion_settings import ReachSettings
from coreloop.base.project.settings import Settings
from coreloop.base.project.tools import Tool
from coreloop.base.project.workspace import Workspace
from coreloop.learn.facts.counting import MineSettings
from coreloop.learn.mine.folder import read_folder
from coreloop.learn.proposals.entry import Counterexample, Without
from coreloop.learn.proposals.page import counterexamples_markdown
from coreloop.learn.proposals.proposal_files import CounterexamplesFile
from coreloop.learn.proposals.step import Step
from coreloop.learn.proposals.vocabulary import Vocabulary
from coreloop.learn.refine.run import Refined, refine, write_refined
from logs import call, failed, record, write_log
from rows import each_row, slow_after

NOW = datetime(2026, 4, 25, 12, tzinfo=UTC)
ALWAYS = Days(date(2000, 1, 1), date(2100, 1, 1))
LOUD = re.compile(r"CANARY|홍길동|질문")
NOTHING = Vocabulary({}, Settings())
BLOCK = re.compile(r"```untrusted\n((?:    .*\n)+)```\n")


def _refined(folder: Path, *records: dict[str, Any]) -> Refined:
    write_log(folder / "log" / "a.jsonl", records)
    files = read_folder(folder / "log", MineSettings())
    return refine(files, ALWAYS, workspace=Workspace(folder, Settings()), min_failures=2)


def _write(
    refined: Refined, folder: Path, *, now: datetime = NOW, sanitized: bool = False
) -> tuple[CounterexamplesFile, tuple[Path, Path]]:
    return write_refined(refined, folder / "out", now=now, sanitized=sanitized)


def _failing(*names: str, times: int = 2) -> list[dict[str, Any]]:
    return [record(tool_calls=[*[failed(name)] * times, call("finish")]) for name in names]


def _ids(document: CounterexamplesFile) -> dict[str, str]:
    return {example.tool: example.id for example in document.counterexamples}


def test_a_document_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    sequence = [record(tool_calls=[call("x"), call("y")], error="boom")] * 3
    document, (path, draft) = _write(_refined(tmp_path, *_failing("a", "b"), *sequence), tmp_path)
    assert (path.name, draft.name) == ("2026-04-25-counterexamples.json", "2026-04-25-draft.md")
    assert msgspec.json.decode(path.read_bytes(), type=CounterexamplesFile) == document
    assert {example.kind for example in document.counterexamples} == {"call", "sequence"}


def test_the_file_has_its_documented_keys(tmp_path: Path) -> None:
    _, (path, _) = _write(_refined(tmp_path, *_failing("a")), tmp_path)
    written = json.loads(path.read_bytes())
    assert written.keys() == {
        "schema_version",
        "generated_at",
        "window",
        "counterexamples",
        "statements",
        "errors",
        "ids",
        "n_folded",
        "draft_sha256",
    }
    (example,) = written["counterexamples"]
    promised = "id key tool selectors arg_keys kind labels error_class error_template n_failures n_calls "
    promised += "n_without wasted_ms first_seen last_seen examples suggested_append providers"
    assert example.keys() >= set(promised.split())
    assert example["id"] == "ce-2026-04-25-001"
    assert example["suggested_append"] is None
    assert example["refused"] == "every call failed: fix the tool or remove it"


def test_a_key_that_vanishes_and_returns_has_its_id_again(tmp_path: Path) -> None:
    first = _ids(_write(_refined(tmp_path, *_failing("a", "b")), tmp_path)[0])
    without = _ids(_write(_refined(tmp_path, *_failing("b", "c")), tmp_path)[0])
    _write(_refined(tmp_path), tmp_path)
    back = _ids(_write(_refined(tmp_path, *_failing("a", "b", "c", "d")), tmp_path)[0])
    assert sorted(first.values()) == ["ce-2026-04-25-001", "ce-2026-04-25-002"]
    assert back == {**first, **without, "d": "ce-2026-04-25-004"}


# --- sanitized -------------------------------------------------------------------------------------


def _hostile(folder: Path) -> Refined:
    args = {"axis": "CANARY axis", "sub": "CANARY sub", "CANARY_key": "CANARY value"}
    good = call("CANARY tool", {**args, "CANARY_other": "CANARY"})
    calls = [failed("CANARY tool", args, "the CANARY text of 홍길동"), good]
    rows = [
        record(
            tool_calls=calls,
            error="CANARY error",
            violation="CANARY violation",
            provider="CANARY & Sons",
            question=f"CANARY 질문{n} 홍길동",
            category_hash="CANARY",
            session_hash="CANARY",
        )
        for n in range(5)
    ]
    return _refined(folder, *rows)


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _leaves(item, f"{path}.{key}")
    elif isinstance(value, list):
        for item in value:
            yield from _leaves(item, path)
    else:
        yield path, value


def test_the_hostile_log_is_visible_if_not_sanitized(tmp_path: Path) -> None:
    _, (path, draft) = _write(_hostile(tmp_path), tmp_path)
    loud = {key for key, value in _leaves(json.loads(path.read_bytes())) if LOUD.search(f"{key}{value}")}
    names = {key.rpartition(".")[2] for key in loud}
    assert names >= {"tool", "axis", "sub", "arg_keys", "error_template", "question", "name", "CANARY & Sons"}
    assert LOUD.search(draft.read_text(encoding="utf-8"))


def test_sanitize_redacts_every_field(tmp_path: Path) -> None:
    refined = _hostile(tmp_path)
    document, paths = _write(refined, tmp_path, sanitized=True)
    written = "".join(path.read_text(encoding="utf-8") for path in paths)
    facts = json.loads(paths[0].read_bytes())
    loud = [
        key
        for key, value in _leaves(facts)
        if key != ".counterexamples.cat_hash" and LOUD.search(f"{key}{value}")
    ]
    assert loud == []
    assert not any(example.key in written for example in refined.counterexample_search.counterexamples)
    assert {example.kind for example in document.counterexamples} == {"call", "sequence"}
    for example in document.counterexamples:
        assert (example.key, example.suggested_append, example.error_template, example.examples) == (
            "",
            None,
            None,
            (),
        )
        assert example.tool == "[REDACTED 11]"
        assert example.selectors == {"axis": "[REDACTED 11]", "sub": "[REDACTED 10]"}
        assert example.providers == {"[REDACTED]": 5}
        assert str(example.refused).startswith("withheld: contains a name that neither")
    ids = [example.id for example in document.counterexamples]
    assert document.ids == {f"withheld-{id}": id for id in ids}


def test_a_sanitized_file_has_no_error_or_question_even_if_every_name_is_known(
    tmp_path: Path,
) -> None:
    (tmp_path / "a.py").write_text(
        'def analysis(company, axis="수익성"):\n    """A tool."""\n', encoding="utf-8"
    )
    bad = failed("analysis", {"axis": "수익성"}, "ValueError: the CANARY must be given")
    rows = [
        record(tool_calls=[bad, call("analysis", {"axis": "수익성", "company": "x"})], question="CANARY")
    ] * 5
    document, paths = _write(_refined(tmp_path, *rows), tmp_path, sanitized=True)
    (example,) = document.counterexamples
    assert LOUD.search("".join(path.read_text(encoding="utf-8") for path in paths)) is None
    assert (example.error_class, example.error_template, example.examples) == ("invalid_argument", None, ())
    assert example.refused == "nothing distinguishes its failed calls from the others yet"
    assert (example.suggested_append, example.key) == (None, "")


def _counterexample(**changes: Any) -> Counterexample:
    facts: dict[str, Any] = {
        "id": "ce-2026-04-25-001",
        "key": "k",
        "kind": "call",
        "tool": "analysis",
        "selectors": {"axis": "수익성"},
        "arg_keys": ("axis", "CANARY", "years"),
        "labels": ("tool_error",),
        "error_class": "other",
        "error_template": "no",
        "n_failures": 3,
        "n_calls": 4,
        "n_without": Without(1, 9),
        "harm_low": 0.3,
        "wasted_ms": 1500.0,
        "first_seen": NOW,
        "last_seen": NOW,
        "providers": {"CANARY": 1, "openai": 2},
    }
    return Counterexample(**{**facts, **changes})


def test_sanitize_keeps_what_source_and_settings_declare() -> None:
    tool = Tool("analysis", "a.py", "analysis", ("axis", "years"), frozenset({"수익성"}))
    words = Vocabulary({"analysis": tool}, Settings(reach=ReachSettings(caps={"openai": 1024})))
    redacted_example = _counterexample(steps=(Step("analysis", {"axis": "CANARY"}, ("axis", "x")),)).shared(
        words
    )
    assert (redacted_example.key, redacted_example.tool, redacted_example.selectors) == (
        "",
        "analysis",
        {"axis": "수익성"},
    )
    assert redacted_example.arg_keys == ("axis", "[REDACTED 6]", "years")
    assert redacted_example.steps == (Step("analysis", {"axis": "[REDACTED 6]"}, ("axis", "[REDACTED 1]")),)
    assert redacted_example.providers == {"openai": 2, "[REDACTED]": 1}


# --- the draft -------------------------------------------------------------------------------------


def _markdown(*examples: Counterexample) -> str:
    return counterexamples_markdown(
        CounterexamplesFile(generated_at=NOW, window=ALWAYS, counterexamples=examples), NOTHING
    )


def test_the_draft_of_nothing_says_so() -> None:
    assert "Nothing failed often enough." in _markdown()


def test_the_draft_gives_the_figures_or_the_reason_for_no_text() -> None:
    text = _markdown(_counterexample(refused="a reason"))
    for figure in (
        "3 of 4 calls failed (other), 2026-04-25 to 2026-04-25",
        "called otherwise: 1 of 9 failed",
        "1.5 s wasted",
    ):
        assert figure in text
    assert "Refused: a reason." in text
    assert text.endswith("```untrusted\n    analysis(axis=수익성, CANARY, years)\n    no\n```\n")


HOSTILE = [
    "# x",
    "<b>x</b>",
    "[x](https://e)",
    "a\n\n# b",
    "`x`",
    "*x*",
    "x_y",
    "a|b",
    "![](u)",
    "a\u202eb",
    "&lt;",
]


@each_row("text", HOSTILE, ids=ascii)
@each_row("field", ["tool", "selectors", "arg_keys", "error_template", "steps"])
def test_a_hostile_text_is_no_markup_and_no_line_of_its_own(field: str, text: str) -> None:
    value = {"selectors": {text: text}, "arg_keys": (text,), "steps": (Step(text, {text: text}, ()),)}.get(
        field, text
    )
    kind = "sequence" if field == "steps" else "call"
    steps = (Step("a", {}, ()),)
    plain = _markdown(_counterexample(kind=kind, steps=steps))
    hostile = _markdown(_counterexample(**{"kind": kind, "steps": steps, field: value}))
    outside = BLOCK.sub("", hostile)
    assert len(outside.splitlines()) == len(BLOCK.sub("", plain).splitlines())
    assert all(line.isprintable() for line in hostile.splitlines())
    for line in outside.splitlines():
        shown = line.removeprefix("# ").removeprefix("## ").replace("`k`", "").replace("tool_error", "")
        assert re.search(r"(?<!\\)[`*_\[\]<>#|&]", shown) is None, line


@pytest.mark.parametrize(
    "text", slow_after(5, [*HOSTILE, "\tindented", "\x1b[31mred", "a\u2028b\x85c", "```\nout"]), ids=ascii
)
def test_a_hostile_question_stays_on_its_line_of_code(text: str, tmp_path: Path) -> None:
    rows = [record(tool_calls=[failed("a"), call("b")], question=f"{text} {n}") for n in range(2)]
    _, (_, draft) = _write(_refined(tmp_path, *rows), tmp_path)
    asked = "".join(BLOCK.findall(draft.read_text(encoding="utf-8"))).splitlines()
    assert any(line.endswith(" 0") for line in asked)
    assert all(line.startswith("    ") and line.isprintable() for line in asked)
