"""Statements in the output: before the candidates, with both sides."""

import json
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest

from coreloop.base.date_range import Days
from coreloop.base.project.settings import Gates, Settings
from coreloop.base.project.workspace import Workspace
from coreloop.cli.show import show_proposals
from coreloop.cli.show_refine import show_refined
from coreloop.learn.pattern.propose import propose
from coreloop.learn.proposals.candidates import CandidatesFile
from coreloop.learn.proposals.counterexamples import CounterexamplesFile
from coreloop.learn.proposals.statements import Statement
from coreloop.learn.refine.propose import refine
from promoting import statement

ALWAYS = Days(date(2000, 1, 1), date(2100, 1, 1))
AT = {"generated_at": datetime(2026, 4, 25, tzinfo=UTC), "window": ALWAYS}


def make_statement(**changes: Any) -> Statement:
    return msgspec.convert(json.loads(json.dumps(statement(**changes))), Statement)


def shown(folder: Path, kind: str, *statements: Statement, as_json: bool = False) -> None:
    workspace = Workspace(folder, Settings())
    if kind == "pattern":
        guides = CandidatesFile(candidates=(), statements=statements, **AT)
        show_proposals(
            propose([], ALWAYS, Gates(), workspace=workspace), guides, (folder, folder), as_json=as_json
        )
        return
    caveats = CounterexamplesFile(counterexamples=(), statements=statements, **AT)
    refined = refine([], ALWAYS, workspace=workspace, min_failures=2)
    show_refined(refined, caveats, (folder, folder), as_json=as_json)


@pytest.mark.parametrize("kind", ["pattern", "refine"])
def test_each_statement_shows_every_number(
    tmp_path: Path, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    alone = make_statement(
        id="cand-2", line="- company: from show().x", kind="source", sides={"n_ok": 70, "n": 80}
    )
    shown(tmp_path, kind, make_statement(line="- Always pass axis", kind="condition"), alone)
    out = capsys.readouterr().out
    assert ", 2 statements, 0 c" in out.splitlines()[0]
    first = out.index("id                          ok otherwise  avoided  tool\n")
    text = " ".join(out[first:].split())
    assert text.startswith(
        "id ok otherwise avoided tool "
        "ce-2026-04-25-001 58/61 17/26 12.3 analysis Always pass axis difference 0.30 (0.12 to 0.49), "
        "q 0.003; last days 12/14, 10/21; 15 questions "
        "cand-2 70/80 - 12.3 analysis company: from show().x share 0.30 (0.12 to 0.49); last days 12/14; "
        "15 questions"
    )


@pytest.mark.parametrize("kind", ["pattern", "refine"])
def test_json_has_all_of_them(tmp_path: Path, kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    shown(tmp_path, kind, make_statement(), as_json=True)
    (entry,) = json.loads(capsys.readouterr().out)["statements"]
    assert msgspec.convert(entry, Statement) == make_statement()


@pytest.mark.parametrize("kind", ["pattern", "refine"])
def test_without_statements_nothing_is_printed(
    tmp_path: Path, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    shown(tmp_path, kind)
    assert "statement" not in capsys.readouterr().out


def test_long_list_refusals_and_hostile_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    refused = replace(
        make_statement(tool="x\x1b[2J"), refused="a tool's name is not a valid name", suggested_append=None
    )
    without_target = {**statement()["suggested_append"], "target_file": None}
    shown(
        tmp_path,
        "pattern",
        refused,
        make_statement(suggested_append=without_target),
        *[make_statement()] * 10,
    )
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "    no text: a tool's name is not a valid name\n" in out
    assert "… and 2 statements more, in the draft\n" in out
    assert "1 with no definition found: name the tools in coreloop.yaml" in out
