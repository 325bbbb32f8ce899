"""What ``promote`` prints: a dry run on one screen, what was pushed, and what may have been meant."""

from typing import Any

import pytest

from promoting import Project, statement, write_candidates

LINES = (
    "- company: from search().hits[].company",
    "- axis: from show().name",
)


@pytest.fixture
def tool(project: Project) -> tuple[str, ...]:
    """The options that promote two lines of a tool."""
    entries = [statement(line=line, id=f"cand-2026-04-25-00{n}") for n, line in enumerate(LINES, 1)]
    write_candidates(project.candidates, *entries)
    return ("--candidate", str(project.candidates), "--tool", "analysis", "--allow-unreached")


def test_a_dry_run_of_two_lines_has_diff_and_evidence_in_forty_lines(
    project: Project, tool: tuple[str, ...], entry_point: Any
) -> None:
    code, out, err = entry_point(project.root, "promote", *tool)
    assert (code, err) == (0, "")
    assert len(out.splitlines()) <= 40
    assert all(f"+    {line}" in out for line in LINES)
    assert out.count("evidence cand-2026-04-25-00") == len(LINES)
    assert "follows: 58 of 61 calls, 31 cases; does not: 17 of 26, 12 cases" in " ".join(out.split())
    assert "Candidate-Key" not in out
    _, long, _ = entry_point(project.root, "promote", *tool, "-v")
    assert "Candidate-Key" in long
    assert "pull request, a draft" in long


def test_a_tool_that_stands_alone_is_answered_with_the_option(project: Project, entry_point: Any) -> None:
    code, _, err = entry_point(project.root, "promote", "refund_order")
    assert code == 2
    assert "did you mean promote --tool refund_order?" in err


@pytest.mark.parametrize(
    ("name", "hint"),
    [("analysys", "did you mean analysis?"), ("zzz", "pattern and refine print the tools")],
)
def test_a_misspelt_tool_gets_a_suggestion(
    name: str, hint: str, project: Project, tool: tuple[str, ...], entry_point: Any
) -> None:
    code, _, err = entry_point(
        project.root, "promote", "--candidate", str(project.candidates), "--tool", name
    )
    assert code == 2
    assert hint in err
