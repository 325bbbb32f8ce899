"""A tool whose description is an argument of its decorator has no docstring to edit."""

from typing import Any

from promoting import FILE, SOURCE, Project, statement, write_candidates


def test_the_refusal_says_where_the_text_is(project: Project, entry_point: Any) -> None:
    decorator = '@mcp.tool(description="Analyses a company.")'
    source = SOURCE.decode() + f"\n\n{decorator}\ndef analysis(company, axis):\n    return company\n"
    source = source.replace("def analysis(company: str", "def former(company: str")
    line = source[: source.index(decorator)].count("\n") + 1
    project.commit({FILE: source}, "described elsewhere")
    project.git("push", "--quiet", "origin", "main")
    write_candidates(project.candidates, statement())
    options = ("--candidate", str(project.candidates), "--id", statement()["id"])
    code, _, err = entry_point(project.root, "promote", *options)
    assert code == 1
    reason = f"set by description= of mcp.tool(…), line {line}; paste there: - company: from show().code"
    assert reason in err
