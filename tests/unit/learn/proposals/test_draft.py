"""A statement's text, or why it may not be proposed."""

import ast
from dataclasses import replace
from datetime import UTC, datetime

import msgspec
import pytest

from coreloop.base.project.allowed_values import schema_of
from coreloop.base.project.settings import Settings
from coreloop.base.project.tools import Tool, make_tool
from coreloop.learn.line import parse_advice, statement_key
from coreloop.learn.proposals.allowed_lines import Vocabulary
from coreloop.learn.proposals.draft import draft_statement, standing_at, standing_texts
from coreloop.learn.proposals.entry import Sides, Statement
from promoting import statement
from samples import words

NOW = datetime(2026, 4, 1, tzinfo=UTC)


def _statement(line: str) -> Statement:
    return Statement(
        key=statement_key("refund", line, "Caveats"),
        kind="presence",
        tool="refund",
        line=line,
        sides=Sides(n_ok=9, n=10, other_ok=1, other_n=10),
        held=Sides(),
        n_questions=9,
        difference=0.8,
        low=0.4,
        high=0.9,
        first_seen=NOW,
        last_seen=NOW,
    )


@pytest.mark.parametrize("parameters", [("amount",), ()], ids=["others", "any argument"])
def test_an_argument_that_only_a_log_names_is_refused(parameters: tuple[str, ...]):
    drafted = draft_statement(_statement("- Always pass Kim_Cheolsu"), words("refund", parameters=parameters))
    assert drafted.refused == "its definition does not have the argument"
    assert drafted.suggested_append is None


@pytest.mark.parametrize(
    "line", ["- Always pass <axis>", "- Ignore what was said", "", "- Always pass a\n- b"]
)
def test_a_line_that_coreloop_does_not_write_is_refused(line: str):
    drafted = draft_statement(_statement(line), words("refund", parameters=["a"]))
    assert drafted.refused == "coreloop writes no such line"


def test_a_tool_that_hands_over_to_a_human_is_not_recommended():
    known = words("refund", "human", parameters=["reason"], handoff=["human"])
    drafted = draft_statement(_statement("- reason: from human().why"), known)
    assert drafted.refused == "human hands over to a human; such calls are not recommended"


MOST, LEAST = "- hours: at most 4", "- hours: at least 1"


@pytest.mark.parametrize(
    ("line", "signature", "is_said"),
    [
        (MOST, "hours: int = Field(le=4)", True),
        (MOST, "hours: Annotated[int, Field(ge=1, le=3)] = 1", True),
        (MOST, "hours: Hours = 1", True),
        (MOST, "hours: int = Field(default=2, lt=5)", True),
        (MOST, "hours: float = Field(default=2, lt=4.5)", False),
        (MOST, "hours: int = Field(1, le=10)", False),
        (MOST, "hours: int = Field(1, le=MOST)", False),
        (MOST, f"hours: int = {'+'.join('4' * 600)}", False),
        (f"{MOST}; only while status is open", "hours: int = Field(le=4)", False),
        (LEAST, "hours: int = Field(gt=0)", True),
        (LEAST, "hours: conint(ge=-1) = 1", False),
        ("- hours: at least -1", "hours: conint(ge=-1) = 1", True),
        ("- Always pass hours", "hours: int", True),
        ("- Always pass hours", "*, hours: int = Field(..., le=4)", True),
        ("- Always pass hours", "hours: int = Field(2, ge=1)", False),
        ("- Always pass hours", "hours: int = Field(default=2)", False),
        ("- Always pass hours and room", "hours: int, room=1", False),
        ("- hours: never empty", "hours: list = Field([], min_length=1)", True),
        ("- hours: never empty", "hours: list", False),
        ("- hours: one of a, b", "hours: Literal['a', 'b']", True),
        ("- hours: one of a", "hours: Literal['a', 'b']", False),
        ("- hours: each one of a, b", "hours: list[Literal['a', 'b']]", True),
    ],
)
def test_what_the_schema_says_is_redundant(line: str, signature: str, is_said: bool):
    tree = ast.parse(f"Hours = Annotated[int, Field(le=4)]\nROOMS = 'a', 'b'\ndef book({signature}): ...")
    tool = make_tool("book", "a.py", "book", tree.body[-1], tree)
    known = Vocabulary({"book": replace(tool, parameters=("hours", "room"))}, Settings())
    drafted = draft_statement(replace(_statement(line), tool="book"), known)
    assert drafted.refused == (
        "redundant: its schema says this; let the error say it, too" if is_said else None
    )


@pytest.mark.parametrize(
    ("line", "is_said"),
    [
        (MOST, True),
        ("- hours: at most 3", False),
        ("- hours: never empty", True),
        ("- Always pass hours", True),
    ],
)
def test_what_a_json_schema_says_is_redundant(line: str, is_said: bool):
    field = {"maximum": 4, "minLength": 1}
    tool = Tool("book", "a.py", "TOOLS", (), frozenset())
    tool = replace(tool, **schema_of({"properties": {"hours": field}, "required": ["hours"]}))
    drafted = draft_statement(replace(_statement(line), tool="book"), Vocabulary({"book": tool}, Settings()))
    assert drafted.refused == (
        "redundant: its schema says this; let the error say it, too" if is_said else None
    )


DOCSTRING = """Books a room.

- hours: at most
  4
"""
MERGED = datetime(2026, 4, 20, tzinfo=UTC)
KNOWN = words("analysis", "search", "find", parameters=["company", "hours"], docstring=DOCSTRING)


@pytest.mark.parametrize(
    ("line", "refused"),
    [
        pytest.param("- hours: at most 3", "is newer than these records", id="another bound"),
        pytest.param("- hours: at most 4", "it already stands in tools.py", id="the same bound, as said now"),
        pytest.param("- Always pass hours", None, id="another subject"),
    ],
)
def test_the_twin_of_a_merged_line_is_not_proposed_from_older_records(line: str, refused: str | None):
    merges = {statement_key("analysis", "- hours: at most 4", "Caveats"): MERGED}
    entry = msgspec.convert(statement(line=line, kind="presence", suggested_append=None), Statement)
    draft = draft_statement(entry, KNOWN, merges)
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
    draft = draft_statement(entry, known)
    assert draft.refused == (None if is_new else "redundant: it already stands in tools.py")


@pytest.mark.parametrize(
    ("above", "argument", "docstring", "line"),
    [
        ("", "hours", "Books.\n\n    Notes\n    -----\n    - hours: at most\n      4\n", 8),
        ("", "hours=Field(description='Hours:  at most 4.')", "Books.", 3),
        ("", "hours: Annotated[int, Field(description='x\\n* hours: at most 4')]", "Books.", 3),
        ("@tool(description='Books.\\n\\n- hours: at most 4')\n", "hours", "Books.", 3),
        ("@tool(description=TEXT)\n", "hours", "Books.", 2),
        ("", "hours", "Books.\n\n    - hours: at most 4 (half a day)\n", 6),
        ("", "hours", "Books for hours: at most 4 of them.", None),
    ],
)
def test_a_line_stands_in_any_text_of_a_tool(above: str, argument: str, docstring: str, line: int | None):
    text = f'TEXT = """\nHours: at MOST 4"""\n{above}def book({argument}):\n    """{docstring}"""\n'
    standing, wanted = standing_texts(text.encode(), "book", "a.py"), parse_advice("- hours: at most 4")
    assert wanted is not None
    assert standing_at(wanted, standing) == (None if line is None else f"a.py:{line}")
