"""Statements that are found and not proposed, and those of older files that are not read any more."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest

from coreloop.learn.proposals.advice import statement_key
from coreloop.learn.proposals.night import read_candidates, read_counterexamples
from coreloop.learn.proposals.statement_draft import Unproposed, draft_statements
from coreloop.learn.proposals.statements import MIN_AVOIDED, Statement
from promoting import statement, write_candidates, write_counterexamples
from samples import words


def _statement(**changes: object) -> Statement:
    return msgspec.convert(statement(line="- company: from search().x", **changes), Statement)


def test_a_statement_about_an_undefined_tool_is_not_proposed():
    statements = [_statement(), _statement(tool="elsewhere")]
    drafts, unproposed = draft_statements(
        statements, words("analysis", "search", parameters=["company"]), section="Guide"
    )
    assert [draft.tool for draft in drafts] == ["analysis"]
    assert unproposed == Unproposed(undefined=("elsewhere",))


@pytest.mark.parametrize(("avoided", "n_proposed"), [(0.0, 0), (MIN_AVOIDED - 0.01, 0), (MIN_AVOIDED, 1)])
def test_a_statement_with_nothing_to_avoid_is_not_proposed(avoided: float, n_proposed: int):
    known = words("analysis", "search", parameters=["company"])
    drafts, unproposed = draft_statements([_statement(avoided=avoided)], known, section="Guide")
    assert (len(drafts), unproposed.n_idle) == (n_proposed, 1 - n_proposed)


@pytest.mark.parametrize("kind", ["order", "once", "choice"])
def test_statements_of_retired_kinds_in_older_files_are_not_read(kind: str, tmp_path: Path):
    path = write_candidates(tmp_path / "c.json", statement(kind=kind), statement(id="cand-2026-04-25-002"))
    assert [entry.id for entry in read_candidates(path).statements] == ["cand-2026-04-25-002"]


@pytest.mark.parametrize(
    "line", ["- Do not call right after pay", "- right after pay and with axis fails (not_found)"]
)
def test_a_line_about_the_call_before_is_not_read(line: str, tmp_path: Path):
    path = write_counterexamples(tmp_path / "c.json", statement(kind="condition", line=line))
    assert read_counterexamples(path).statements == ()


DOCSTRING = """Books a room.

- hours over 4
  fails (other)
"""
MERGED = datetime(2026, 4, 20, tzinfo=UTC)
KNOWN = words("analysis", "search", "find", parameters=["company", "hours"], docstring=DOCSTRING)


@pytest.mark.parametrize(
    ("line", "refused"),
    [
        pytest.param("- hours over 4 fails (auth)", "its docstring has this line", id="another class"),
        pytest.param("- hours over 4 fails", "its docstring has this line", id="no class"),
        pytest.param("- hours over 4 fails (auth): find", "is newer than these records", id="says more"),
        pytest.param("- hours over 3 fails", "is newer than these records", id="another bound"),
        pytest.param("- hours under 3 fails", None, id="another subject"),
    ],
)
def test_the_twin_of_a_merged_line_is_not_proposed_from_older_records(line: str, refused: str | None):
    merges = {statement_key("analysis", "- hours over 4 fails (other)", "Caveats"): MERGED}
    entry = msgspec.convert(statement(line=line, kind="condition", suggested_append=None), Statement)
    (draft,), _ = draft_statements([entry], KNOWN, section="Caveats", merges=merges)
    assert (draft.refused is None) is (draft.suggested_append is not None) is (refused is None)
    assert refused is None or refused in (draft.refused or "")


def test_newer_records_may_replace_a_merged_line():
    merges = {statement_key("analysis", "- hours over 4 fails (other)", "Caveats"): MERGED}
    entry = msgspec.convert(
        statement(line="- hours over 3 fails", kind="condition", suggested_append=None), Statement
    )
    (draft,), _ = draft_statements(
        [replace(entry, first_seen=MERGED)], KNOWN, section="Caveats", merges=merges
    )
    assert draft.refused is None
