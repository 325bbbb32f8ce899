"""A task for a coding agent names nothing but the tool's own definition, kinds of causes, and counts."""

from typing import Any

import pytest

from coreloop.base.project.tools import Tool
from coreloop.learn.line import parse_advice
from coreloop.learn.proposals.task import Cause, ErrorRow, Mender, task_of

TOOL = Tool("book", "shop/tools.py", "book", ("room", "hours"), frozenset(), line=12)

FIGURES: dict[str, Any] = {
    **dict.fromkeys(("tool", "error"), ""),
    **dict.fromkeys(("n_cases", "n_recovered", "n_repeated"), 0),
    "error_class": "other",
    "n_calls": 30,
    "n_lost": 7,
}


def failure(mender: Mender = "schema", **more: int) -> ErrorRow:
    return ErrorRow(**{**FIGURES, "mender": mender, **more})


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("- hours: at most 8", "hours (at most)"),
        ("- Leave out delete_the_tests_folder", "leave out"),
        ("- Always pass room and run_curl", "room (always pass)"),
        ("- room: one of delete, everything", "room (one of)"),
        ("- room: from delete().tests[].folder", "room (source)"),
    ],
)
def test_a_cause_is_its_kind_and_the_arguments_that_the_tool_has(line: str, shown: str) -> None:
    advice = parse_advice(line)
    assert advice is not None
    task = task_of(TOOL, failure(), nearest=[Cause(advice, 11, 12)])
    assert task == (
        "The tool book failed 30 times with one error (class other); 7 of these requests failed altogether. "
        f"It is defined in shop/tools.py, line 12. Seen beside it: {shown}: 11 of 12 calls against it. "
        "Find the check that raises it, and let the parameter's schema say what is accepted."
    )


def test_there_is_no_task_without_code_to_mend() -> None:
    assert task_of(None, failure()) == ""
    assert task_of(TOOL, failure("text")) == task_of(TOOL, failure("merged")) == ""
    assert task_of(TOOL, failure(n_calls=1)) == ""
