"""Statements in the output: before the candidates, with both sides."""

import json
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest

from coreloop.base.date_range import Days
from coreloop.base.project.settings import Settings
from coreloop.base.project.workspace import Workspace
from coreloop.cli.emit import json_of
from coreloop.cli.refine import refined_facts, show_refined
from coreloop.learn.proposals.entry import Statement
from coreloop.learn.proposals.proposal_files import CounterexamplesFile
from coreloop.learn.proposals.statement_draft import Unproposed
from coreloop.learn.refine.run import refine
from promoting import statement

ALWAYS = Days(date(2000, 1, 1), date(2100, 1, 1))
AT = {"generated_at": datetime(2026, 4, 25, tzinfo=UTC), "window": ALWAYS}


def make_statement(**changes: Any) -> Statement:
    return msgspec.convert(json.loads(json.dumps(statement(**changes))), Statement)


def shown(folder: Path, *statements: Statement, is_verbose: bool = False) -> str:
    """Show statements, and return them as JSON."""
    caveats = CounterexamplesFile(counterexamples=(), statements=statements, **AT)
    refined = refine([], ALWAYS, workspace=Workspace(folder, Settings()), min_failures=2)
    show_refined(refined, caveats, (folder, folder), is_verbose=is_verbose)
    return json_of(refined_facts(refined, caveats, (folder, folder), ())).decode()


def test_each_statement_shows_its_sides_and_what_it_costs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shown(tmp_path, make_statement(line="- Always pass axis", kind="presence"), is_verbose=True)
    out = capsys.readouterr().out
    assert "; 1 statement, 0 failing groups" in out.splitlines()[0]
    assert " ".join(out[out.index("ce-2026") :].split()).startswith(
        "ce-2026-04-25-001 analysis Always pass axis follows: 58 of 61 calls, 31 customers; does not: 17 of "
        "26, 12 customers per 1,000 requests: at least 12.3 calls wasted, 1.5 to 4.0 requests lost; "
        "difference 0.30 (0.12 to 0.49), q 0.003"
    )


def test_json_has_all_of_them(tmp_path: Path) -> None:
    (entry,) = json.loads(shown(tmp_path, make_statement()))["statements"]
    given = make_statement()
    assert (entry["key"], entry["n_questions"], entry["low"]) == (given.key, given.n_questions, given.low)
    assert (entry["tool"], entry["untrusted_tool"]) == ("[REDACTED 8]", given.tool)  # no project defines it
    assert entry["untrusted_line"] == given.line


def test_without_statements_none_is_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shown(tmp_path)
    assert "1 statement" not in capsys.readouterr().out


def test_long_list_refusals_and_hostile_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    refused = replace(
        make_statement(tool="x\x1b[2J"), refused="a tool's name is not a valid name", suggested_append=None
    )
    without_target = {**statement()["suggested_append"], "target_file": None}
    shown(
        tmp_path,
        refused,
        make_statement(suggested_append=without_target),
        *[make_statement()] * 10,
        is_verbose=True,
    )
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "    no text: a tool's name is not a valid name\n" in out
    assert "… and 2 statements more, in the draft\n" in out


def test_lines_of_tools_without_a_definition_are_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    withheld = tuple(make_statement(tool="create_issue", line="- component: never empty") for _ in range(6))
    refined = refine([], ALWAYS, workspace=Workspace(tmp_path, Settings()), min_failures=2)
    refined = replace(refined, unproposed=Unproposed(("create_issue",), withheld))
    caveats = CounterexamplesFile(counterexamples=(), statements=(make_statement(),), **AT)
    show_refined(refined, caveats, (tmp_path, tmp_path))
    out = capsys.readouterr().out
    assert "not proposed: statements about create_issue: no definition, or several; name" in " ".join(
        out.split()
    )
    assert out.count("    create_issue: component: never empty (58 of 61, otherwise 17 of 26)\n") == 3
    assert out.endswith("… and 3 statements; -v shows them\n")


def test_one_screen_says_what_it_leaves_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shown(tmp_path, *[make_statement()] * 12)
    shown_lines = capsys.readouterr().out.splitlines()
    assert len(shown_lines) <= 24
    assert shown_lines[-1] == "… and 8 statements; -v shows them"
