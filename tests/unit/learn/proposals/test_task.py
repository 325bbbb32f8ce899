"""A task for a coding agent names nothing but the tool's own definition, and counts."""

from typing import Any

from coreloop.base.project.tools import Tool
from coreloop.learn.proposals.entry import ErrorRow, Mender, task_of

TOOL = Tool("book", "shop/tools.py", "book", ("room", "hours"), frozenset(), line=12)

FIGURES: dict[str, Any] = {
    **dict.fromkeys(("tool", "error"), ""),
    **dict.fromkeys(("n_cases", "n_recovered"), 0),
    "error_class": "other",
    "n_calls": 30,
    "n_lost": 7,
}


def failure(mender: Mender = "schema", **more: int) -> ErrorRow:
    return ErrorRow(**{**FIGURES, "mender": mender, **more})


def test_a_task_is_the_definition_counts_and_what_is_asked() -> None:
    assert task_of(TOOL, failure()) == (
        "The tool book failed 30 times with one error (class other); 7 of these requests failed altogether. "
        "It is defined in shop/tools.py, line 12. "
        "Find the check that raises it, and let the parameter's schema say what is accepted."
    )


def test_there_is_no_task_without_code_to_mend() -> None:
    assert task_of(None, failure()) == ""
    assert task_of(TOOL, failure("text")) == task_of(TOOL, failure("merged")) == ""
    assert task_of(TOOL, failure(n_calls=1)) == ""
