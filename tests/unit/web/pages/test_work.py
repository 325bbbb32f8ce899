"""Jobs and gaps: dead letters are tried again, gaps are closed, suggestions decided."""

from pathlib import Path

import pytest

from coreloop.base.errors import UsageError
from coreloop.base.project.workspace import open_workspace
from coreloop.web.pages.page_data import PageSource, open_source
from coreloop.web.pages.render import Frame, render
from coreloop.web.pages.work import WORK, read_work


@pytest.fixture
def empty(tmp_path: Path):
    with open_source(open_workspace(tmp_path), {}) as source:
        yield source


def press(source: PageSource, button: str, **form: str) -> None:
    assert WORK.actions[button].run(source, form, "Ann") == ("work",)


def test_a_dead_letter_is_shown_with_its_error_and_tried_again(empty: PageSource):
    put = empty.queue.put("index.file", {"path": "a.py"}, max_attempts=1)
    taken = empty.queue.take(["index.file"])
    assert taken is not None
    empty.queue.fail(taken, "a.py: <b>gone</b>")
    page = render("work.html", Frame(section="work", may_run=True), read_work(empty))
    assert "a.py: &lt;b&gt;gone&lt;/b&gt;" in page
    press(empty, "retry", id=put.id)
    assert empty.queue.get(put.id).status == "queued"
    press(empty, "cancel", id=put.id)
    assert empty.queue.get(put.id).status == "cancelled"
    with pytest.raises(UsageError, match="only queued jobs"):
        press(empty, "cancel", id=put.id)


def test_a_gap_is_closed_by_who_read_it(empty: PageSource):
    gap = empty.tables.open_gap(topic="환불은 며칠?", file="", symbol="", reason="search_miss", now=empty.now)
    frame = Frame(section="work", may_review=True)
    assert "환불은 며칠?" in render("work.html", frame, read_work(empty))
    press(empty, "close", id=gap.id)
    assert [one.closed_by for one in empty.tables.gaps(open_only=False)] == ["Ann"]


def test_a_suggestion_is_rejected_once(empty: PageSource):
    details = {"code_symbol": "a.py::f", "schema_ref": "t.sql#f", "reason": "both are named f"}
    made = empty.tables.suggest("schema.link.suggest", details, now=empty.now)
    assert "t.sql#f" in render("work.html", Frame(section="work"), read_work(empty))
    press(empty, "reject", id=made.id)
    assert [one.status for one in empty.tables.suggestions()] == ["rejected"]
    with pytest.raises(UsageError, match="rejected already"):
        press(empty, "reject", id=made.id)


def test_a_report_has_no_questions(empty: PageSource):
    empty.tables.open_gap(topic="Who is Dana?", file="", symbol="", reason="search_miss", now=empty.now)
    page = render("work.html", Frame(section="work", root=""), read_work(empty))
    assert "Dana" not in page
    assert "Open gaps: 1" in page
