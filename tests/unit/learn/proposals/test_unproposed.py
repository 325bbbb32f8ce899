"""Statements that are found and not proposed."""

from dataclasses import replace
from datetime import UTC, datetime

import msgspec
import pytest

from coreloop.learn.line import statement_key
from coreloop.learn.proposals.draft import Unproposed, draft_statements
from coreloop.learn.proposals.entry import Statement
from promoting import statement
from samples import words


def _statement(**changes: object) -> Statement:
    return msgspec.convert(statement(line="- company: from search().x", **changes), Statement)


def test_a_statement_about_an_undefined_tool_is_not_proposed():
    statements = [_statement(), _statement(tool="elsewhere")]
    drafts, unproposed = draft_statements(statements, words("analysis", "search", parameters=["company"]))
    assert [draft.tool for draft in drafts] == ["analysis"]
    assert unproposed.undefined == ("elsewhere",)
    assert unproposed == Unproposed((statements[1],))


DOCSTRING = """Books a room.

- hours over 4
  fails
"""
MERGED = datetime(2026, 4, 20, tzinfo=UTC)
KNOWN = words("analysis", "search", "find", parameters=["company", "hours"], docstring=DOCSTRING)


@pytest.mark.parametrize(
    ("line", "refused"),
    [
        pytest.param("- hours: at most 3", "is newer than these records", id="another bound"),
        pytest.param("- hours: at most 4", "its docstring has this line", id="the same bound, as said now"),
        pytest.param("- Always pass hours", None, id="another subject"),
    ],
)
def test_the_twin_of_a_merged_line_is_not_proposed_from_older_records(line: str, refused: str | None):
    merges = {statement_key("analysis", "- hours over 4 fails", "Caveats"): MERGED}
    entry = msgspec.convert(statement(line=line, kind="presence", suggested_append=None), Statement)
    (draft,), _ = draft_statements([entry], KNOWN, merges=merges)
    assert (draft.refused is None) is (draft.suggested_append is not None) is (refused is None)
    assert refused is None or refused in (draft.refused or "")


@pytest.mark.parametrize(
    ("line", "is_new"),
    [
        pytest.param("- company: never empty", False, id="a clause of a line"),
        pytest.param("- company: 비워 두지 않음", False, id="in the other language"),
        pytest.param("- hours: never empty", True, id="of another argument"),
        pytest.param("- Always pass hours", False, id="less than a line"),
        pytest.param("- Always pass hours, company and size", True, id="more than a line"),
    ],
)
def test_what_the_docstring_says_already_is_not_proposed_whatever_the_records(line: str, is_new: bool):
    docstring = (
        "Books.\n\n- company: only while status is open; never empty\n- Always pass company and hours\n"
    )
    known = words("analysis", "search", parameters=["company", "hours", "size"], docstring=docstring)
    entry = msgspec.convert(statement(line=line, kind="source", suggested_append=None), Statement)
    (draft,), _ = draft_statements([entry], known)
    assert draft.refused == (None if is_new else "redundant: its docstring has this line")


def test_newer_records_may_replace_a_merged_line():
    merges = {statement_key("analysis", "- hours over 4 fails", "Caveats"): MERGED}
    entry = msgspec.convert(
        statement(line="- hours over 3 fails", kind="presence", suggested_append=None), Statement
    )
    (draft,), _ = draft_statements([replace(entry, first_seen=MERGED)], KNOWN, merges=merges)
    assert draft.refused is None
