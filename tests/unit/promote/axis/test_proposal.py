"""The document that proposes an axis."""

import re
from datetime import date
from pathlib import PurePosixPath

import pytest

from axis_histories import (
    DOCUMENT,
    GUIDE,
    NOTHING,
    History,
    weigh,
    write,
)
from coreloop.base.errors import WorkspaceError
from coreloop.promote.axis.run import proposal_path
from promoting import FILE
from rows import each_row, slow_after


@each_row(
    ("engine", "axis", "name"),
    [
        ("analysis", "수익성", "analysis-profitability"),
        ("analysis", None, "analysis-general"),
        ("analysis", "배당", "analysis-dividend"),
        ("dart/Lab.analysis", "Cash Flow", "dart-lab-analysis-cash-flow"),
    ],
)
def test_document_is_named_after_engine_and_axis(engine: str, axis: str | None, name: str) -> None:
    path = proposal_path(engine, axis, {"배당": "dividend"})
    assert path == PurePosixPath(f"docs/phase-a-proposals/{name}.md")


def test_document_is_all_that_is_written(history: History) -> None:
    history.mature()
    before = history.project.fingerprint()
    path, written = write(history, weigh(history))
    after = history.project.fingerprint()
    assert (written, path) == (True, history.project.root / DOCUMENT)
    assert {name for name in after if after[name] != before.get(name)} == {str(path)}
    assert before.keys() <= after.keys()


def test_document_shows_the_history(history: History) -> None:
    shas = history.mature()
    gone = history.add('- Call: analysis(axis="수익성", sub="roe") -> scan(company).', at="2026-04-10")
    text = write(history, weigh(history))[0].read_text()
    assert text.startswith("# Proposal: analysis, axis 수익성\n")
    assert "## 2026-04-25: analysis, axis 수익성\n" in text
    assert (
        "| Phase R merges | 4 | 3 |\n| Phase F caveats | 2 | 2 |\n| days since the first merge | 40 | 30 |"
        in text
    )
    assert all(f"| `{sha[:12]}` | " in text for sha in [*shas, gone])
    assert "12 of 12 requests, lower bound 0.76" in text
    assert f"    {GUIDE.format('수익성')}\n    - Evidence: 1.\n" in text
    assert "### Selector values\n\n- axis=수익성: 6\n- sub=roe: 1\n" in text
    assert "### Companion tools\n\n- show: 3\n- scan: 1\n" in text
    assert re.findall(r"^- (\d\d\d\d-\d\d-\d\d) Phase ([RF])", text, re.MULTILINE) == [
        ("2026-03-16", "R"),
        ("2026-03-20", "R"),
        ("2026-03-24", "R"),
        ("2026-04-01", "F"),
        ("2026-04-02", "F"),
        ("2026-04-10", "R"),
    ]


def test_document_says_what_a_human_must_do(history: History) -> None:
    history.mature()
    text = write(history, weigh(history))[0].read_text()
    tasks = text.split("## What a human must do\n", 1)[1].split("\n## ", 1)[0]
    assert all(
        f"- [ ] {task}" in tasks for task in ("Override key", "Axis", "Docstring", "Tests", "Pull request")
    )
    assert "write its 9 sections (Summary, Description, " in tasks
    assert f"`dartlab-coreloop docstring check {FILE}`" in tasks
    assert "without coreloop's marks" in tasks


def test_reverted_promotion_is_in_the_timeline_and_not_in_the_evidence(history: History) -> None:
    history.mature()
    gone = history.add(GUIDE.format("수익성"), at="2026-04-10")
    history.revert(gone)
    text = write(history, weigh(history))[0].read_text()
    assert f"- 2026-04-10 Phase R `{gone[:12]}`, reverted: does not count\n" in text
    assert text.count(gone[:12]) == 1


@pytest.mark.parametrize(
    ("address", "link"),
    [
        (
            "https://token:secret@github.com/octo/tools.git",
            "[`{short}`](https://github.com/octo/tools/commit/{sha})",
        ),
        ("git@gitlab.com:octo/tools.git", "| `{short}` |"),
    ],
)
def test_commits_are_links_if_the_remote_is_on_github(history: History, address: str, link: str) -> None:
    sha = history.mature()[0]
    history.project.git("remote", "add", "origin", address)
    text = write(history, weigh(history))[0].read_text()
    assert link.format(short=sha[:12], sha=sha) in text
    assert "secret" not in text


def test_markup_in_a_commit_is_escaped(history: History) -> None:
    history.add(GUIDE.format("수익성"))
    message = history.message().replace("12 of 12 requests", "<b>x</b> | [y](http://z) \x1b[0m")
    history.project.git("commit", "--quiet", "--amend", "-m", message)
    text = write(history, weigh(history, thresholds=NOTHING))[0].read_text()
    assert r"\<b\>x\</b\> \| \[y\](http://z) \\u\{1b\}\[0m" in text


def test_second_run_on_a_day_adds_nothing(history: History) -> None:
    history.mature()
    path, _ = write(history, weigh(history))
    before = path.read_bytes()
    history.add(GUIDE.format("수익성"), at="2026-04-24")
    assert write(history, weigh(history)) == (path, False)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "old", slow_after(2, [b"# Ours\n", b"# Ours", b"", b"# Ours\r\n", b"\xff\xfe# Ours\n"])
)
def test_existing_text_of_a_document_is_unchanged(history: History, old: bytes) -> None:
    history.mature()
    path = history.project.root / DOCUMENT
    path.parent.mkdir(parents=True)
    path.write_bytes(old)
    assert write(history, weigh(history)) == (path, True)
    assert write(history, weigh(history), date(2026, 4, 26)) == (path, True)
    added = path.read_bytes().removeprefix(old)
    assert path.read_bytes().startswith(old)
    assert re.findall(rb"^## (.{10}): analysis", added, re.MULTILINE) == [b"2026-04-25", b"2026-04-26"]
    assert b"What a human must do" not in added
    assert (b"\n" in added.replace(b"\r\n", b"")) != (b"\r\n" in old)
    assert write(history, weigh(history), date(2026, 4, 25)) == (path, False)


def test_two_axes_with_one_slug_both_have_their_section(history: History) -> None:
    for axis in ("cash flow", "cash-flow"):
        history.add(GUIDE.format(axis))
    paths = {write(history, weigh(history, axis, thresholds=NOTHING)) for axis in ("cash flow", "cash-flow")}
    assert len(paths) == 1
    assert paths.pop()[1]


def test_undeclared_selector_stays_undeclared(history: History) -> None:
    history.add("- Call: analysis(company, axis=<axis>).")
    text = write(history, weigh(history, None, thresholds=NOTHING))[0].read_text()
    assert r"- axis=\<axis\>: 1" in text
    assert "### Companion tools\n\nNone: " in text


def test_folder_that_cannot_be_made_is_an_error_with_its_name(history: History) -> None:
    history.mature()
    history.project.commit({"docs": "a file"})
    with pytest.raises(WorkspaceError, match=r"analysis-profitability\.md: cannot be written"):
        write(history, weigh(history))


def test_folder_in_the_place_of_the_document_is_an_error(history: History) -> None:
    history.mature()
    (history.project.root / DOCUMENT).mkdir(parents=True)
    with pytest.raises(WorkspaceError, match=r"analysis-profitability\.md: cannot be read"):
        write(history, weigh(history))
