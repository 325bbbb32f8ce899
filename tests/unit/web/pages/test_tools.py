"""Tools: what the model is told, how calls end, where arguments come from, and what was never called."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from coreloop.base.project.workspace import open_workspace
from coreloop.observe.descriptions_in_force import SentTool, keep_descriptions
from coreloop.web.pages.page_data import PageSource, open_source
from coreloop.web.pages.tools import TOOLS
from hostile import QUESTIONS
from logs import call, failed, record
from showing import elements, log_of, page, table

SOURCE = '''"""Tools."""


def show(company: str) -> str:
    """Show a company.

    Guide
    -----
    - When: questions on one company.
    """


@mcp.tool(name="find-company")
def find(text: str) -> str:
    """Find a company by its name."""


@tool
def unused() -> str: ...
'''


@pytest.fixture
def root(tmp_path: Path, quiet_git: None) -> Path:
    (tmp_path / "tools.py").write_text(SOURCE)
    (tmp_path / "coreloop.yaml").write_text("reach: {caps: {small-model: 40}, command: [cat]}\n")
    return tmp_path


@pytest.fixture
def source(root: Path) -> Iterator[PageSource]:
    with open_source(open_workspace(root), {}) as source:
        yield source


def test_tools_are_listed_by_calls_with_their_rates(source: PageSource):
    log_of(source, record(tool_calls=[call("show"), call("show"), failed("scan"), call("show")]))
    html = page(source, TOOLS)
    assert table(html, "Tools") == [
        ["show", "3", "0", "100.0 %", "43.9 % – 100.0 %", "0.0 s"],
        ["scan", "1", "1", "0.0 %", "0.0 % – 79.3 %", "0.0 s"],
    ]
    assert '<td data-label="failed" class="number">1</td>' in html  # what a card on a phone shows
    never = next(one for one in elements(html).iter("ul"))
    assert [one.text for one in never.iter("a")] == ["find-company", "unused"]


def test_a_tool_shows_its_docstring_as_it_is_in_the_file_now(source: PageSource, root: Path):
    log_of(source, record(tool_calls=[call("show")]))
    assert "Guide\n-----\n- When: questions on one company." in page(source, TOOLS, "show")
    (root / "tools.py").write_text(SOURCE.replace("Show a company.", "Show <b>one</b> company."))
    html = page(source, TOOLS, "show")
    assert "Show &lt;b&gt;one&lt;/b&gt; company." in html
    assert "tools.py::show" in html


def test_a_tool_shows_its_description_as_models_were_last_sent_it(source: PageSource):
    audit_dir = source.workspace.audit_dir
    texts = ("Show <i>it</i>, as sent.", "Show it, as sent before.")
    newest, older = (keep_descriptions([SentTool("show", text, {})], audit_dir) for text in texts)
    log_of(
        source,
        record(tool_calls=[call("show"), call("find-company")], descriptions=newest),
        record(tool_calls=[call("show")], descriptions=older, ts="2026-04-25T08:00:00Z"),
    )
    html = page(source, TOOLS, "show")
    assert "Show &lt;i&gt;it&lt;/i&gt;, as sent." in html
    assert "as sent before" not in html
    assert "As models were last sent it" not in page(source, TOOLS, "find-company")


def test_failures_by_cause_without_their_texts(source: PageSource):
    texts = ("KeyError: 'kim'", "KeyError: 'lee'", "TimeoutError: timed out")
    log_of(source, record(tool_calls=[*(failed("show", error=text) for text in texts), call("show")]))
    html = page(source, TOOLS, "show", may_review=True)
    assert table(html, "Share of the calls that failed") == [
        ["not_found", "50.0 %", "15.0 % – 85.0 %", "2 / 4"],
        ["timeout", "25.0 %", "4.6 % – 69.9 %", "1 / 4"],
    ]
    assert "KeyError" not in html


def test_hostile_names_errors_and_places_are_text(source: PageSource):
    names = [text[:60] for text in QUESTIONS]
    records = (
        record(tool_calls=[failed(name, error=name), call(name, {name: name}, args_from={name: [name]})])
        for name in names
    )
    log_of(source).write_text("\n".join(map(json.dumps, records)))
    listed = page(source, TOOLS)
    assert listed.count("<script") == 1
    for tool in TOOLS.items(source):
        html = page(source, TOOLS, tool, may_review=True)
        assert html.count("<script") == 1
        assert not any("\u202e" in text or "\x1b" in text for text in elements(html).itertext())


def test_a_report_has_a_page_for_each_tool(source: PageSource):
    log_of(source, record(tool_calls=[call("show"), call("a/b")]))
    assert set(TOOLS.items(source)) == {"show", "a/b", "find-company", "unused"}
    assert 'href="tools/a%252Fb.html"' in page(source, TOOLS, root="")
