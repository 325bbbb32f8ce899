"""Jobs on Health and gaps on Ask: dead letters are tried again, gaps closed, suggestions decided."""

from dataclasses import replace
from pathlib import Path

import pytest

from coreloop.base.errors import UsageError
from coreloop.base.project.workspace import open_workspace
from coreloop.runs.manage import create_run
from coreloop.web.pages.ask import ASK
from coreloop.web.pages.health import HEALTH
from coreloop.web.pages.page_data import PageSource, open_source
from showing import page


@pytest.fixture
def empty(tmp_path: Path):
    with open_source(open_workspace(tmp_path), {}) as source:
        yield source


def press(source: PageSource, button: str, **form: str) -> None:
    assert HEALTH.actions[button].run(source, form, "Ann") == ("health",)


def test_a_dead_letter_is_shown_with_its_error_and_tried_again(empty: PageSource):
    put = empty.queue.put("index.file", {"path": "a.py"}, max_attempts=1)
    taken = empty.queue.take(["index.file"])
    assert taken is not None
    empty.queue.fail(taken, "a.py: <b>gone</b>")
    assert "a.py: &lt;b&gt;gone&lt;/b&gt;" in page(empty, HEALTH, may_run=True)
    press(empty, "retry", id=put.id)
    assert empty.queue.get(put.id).status == "queued"
    press(empty, "cancel", id=put.id)
    assert empty.queue.get(put.id).status == "cancelled"
    with pytest.raises(UsageError, match="only queued jobs"):
        press(empty, "cancel", id=put.id)


def test_questions_are_found_by_their_words(empty: PageSource):
    for question in ("50% off?", "L'ÉTÉ, a_b", "한강의 길이"):
        create_run(empty.runs, question, kind="ask")
    found = {
        "%": "50% off?",
        "OFF?": "50% off?",
        "été": "L'ÉTÉ, a_b",
        "a_b": "L'ÉTÉ, a_b",
        "길이 한강": "한강의 길이",
    }
    for search, question in found.items():
        assert [row.question for row, _ in ASK.read(replace(empty, search=search))["asked"]] == [question]
    assert not ASK.read(replace(empty, search="axb"))["asked"]


def test_a_suggestion_is_rejected_once(empty: PageSource):
    details = {"code_symbol": "a.py::f", "schema_ref": "t.sql#f", "reason": "both are named f"}
    made = empty.tables.suggest("schema.link.suggest", details, now=empty.now)
    assert "t.sql#f" in page(empty, HEALTH)
    press(empty, "reject", id=made.id)
    assert [one.status for one in empty.tables.suggestions()] == ["rejected"]
    with pytest.raises(UsageError, match="rejected already"):
        press(empty, "reject", id=made.id)


def test_a_report_has_no_questions(empty: PageSource):
    empty.tables.open_gap(topic="Who is Dana?", file="", symbol="", reason="search_miss", now=empty.now)
    shown = page(empty, ASK, root="")
    assert "Dana" not in shown
    assert "Open gaps: 1" in shown
