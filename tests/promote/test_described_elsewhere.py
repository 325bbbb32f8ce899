"""A tool whose description is an argument of its decorator has no docstring to edit."""

from typing import Any

import pytest

from promoting import FILE, SOURCE, Project, statement, write_candidates


@pytest.mark.parametrize(
    ("decorator", "reason"),
    [
        pytest.param(
            '@mcp.tool(description="Analyses a company.")',
            "set by description= of mcp.tool(…), line {line}; paste there: - company: from show().code",
            id="described by the decorator",
        ),
        pytest.param("@mcp.tool()", "analysis has no docstring", id="not described at all"),
    ],
)
def test_the_refusal_says_where_the_text_is(
    decorator: str, reason: str, project: Project, entry_point: Any
) -> None:
    source = SOURCE.decode() + f"\n\n{decorator}\ndef analysis(company, axis):\n    return company\n"
    source = source.replace("def analysis(company: str", "def former(company: str")
    line = source[: source.index(decorator)].count("\n") + 1
    project.commit({FILE: source}, "described elsewhere")
    project.git("push", "--quiet", "origin", "main")
    write_candidates(project.candidates, statement())
    options = ("--candidate", str(project.candidates), "--id", statement()["id"])
    code, _, err = entry_point(project.root, "promote", *options)
    assert code == 1
    assert reason.format(line=line) in err
