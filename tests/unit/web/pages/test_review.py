"""Review: what waits, in which order, with which evidence; verdicts, and taking them back."""

from dataclasses import replace
from datetime import timedelta

import pytest

from coreloop.base.errors import UsageError
from coreloop.learn.verdicts.judge import judge
from coreloop.observe.judgments import VerdictLetter, read_verdicts
from coreloop.web.pages.page_data import PageSource
from coreloop.web.pages.review import REVIEW, read_item, read_review
from showing import page


def given(source: PageSource) -> list[tuple[str, str, str | None]]:
    judgments = read_verdicts(source.workspace.judgments_dir).given
    return [(one.id, str(one.verdict), one.cause) for one in judgments]


def press(source: PageSource, button: str, **form: str) -> tuple[str, ...]:
    return REVIEW.actions[button].run(source, form, "Ann")


def test_proposals_wait_by_gain_statements_first_and_those_without_a_text_last(unchanged: PageSource):
    waiting = read_review(unchanged)["proposals"]
    places = [(one.entry.refused is not None, one.kind) for one in waiting]
    assert places == sorted(
        places, key=lambda place: (place[0], ["statement", "failure", "sequence"].index(place[1]))
    )
    gains = [one.gain for one in waiting if one.kind == "statement" and one.entry.refused is None]
    assert gains == sorted(gains, reverse=True)
    assert gains[0] > 0


def test_an_item_shows_both_sides_and_the_docstring_as_the_model_will_read_it(unchanged: PageSource):
    first = read_review(unchanged)["proposals"][0]
    view = read_item(unchanged, first.entry.id)
    assert view is not None
    followed, otherwise = first.sides()
    assert followed.low <= followed.value <= followed.high
    assert otherwise.is_other
    assert view["change"].target == "helpdesk/articles.py::search_articles"
    lines = view["change"].lines
    assert lines[0] == "  Search the help center."
    assert [line for line in lines if not line.startswith(" ")] == ["+ ", "+ - limit: at most 20"]


def test_calls_of_both_sides_and_a_schema_are_read_on_demand(unchanged: PageSource):
    first = read_review(unchanged)["proposals"][0].entry.id
    calls = read_item(replace(unchanged, search="calls"), first)["calls"]  # type: ignore[index]
    assert [len(calls["failed"]), len(calls["worked"])] == [3, 3]
    assert "limit=<n, against the line>" in calls["failed"][0]
    patch, [sentence] = calls["schema"]
    assert "+def search_articles(query: str, limit: Annotated[int, Field(le=20)] = 5)" in patch
    assert sentence == "`limit: at most 20`: refuses none of 118 calls that worked, with retries"


def test_what_a_client_cuts_off_is_struck_through(source: PageSource):
    tool = source.workspace.root / "helpdesk" / "articles.py"
    tool.write_text(tool.read_text().replace("    Ranks the", "    " + "words " * 400 + "\n\n    Ranks the"))
    html = page(source, REVIEW, read_review(source)["proposals"][0].entry.id)
    assert "+ <s>- limit: at most 20</s>" in html
    assert "<s>  Search the help center." not in html
    tool.write_text("def search_articles(:\n")
    html = page(replace(source, search="calls"), REVIEW, read_review(source)["proposals"][0].entry.id)
    assert "cannot read the file" in html


def test_the_plan_is_shown_and_changes_nothing(source: PageSource):
    first = read_review(source)["proposals"][0].entry.id
    refs = source.workspace.root / ".git" / "refs"
    before = sorted(refs.rglob("*"))
    shown = read_item(replace(source, search="plan"), first)["plan"]  # type: ignore[index]
    assert {"+    - limit: at most 20", "measured not yet; see measure"} <= {*shown}
    assert sorted(refs.rglob("*")) == before


def test_a_verdict_is_written_and_the_next_item_follows(source: PageSource):
    first, second = (one.entry.id for one in read_review(source)["proposals"][:2])
    assert press(source, "judge", id=first, verdict="C", cause="not ours") == ("review", second)
    assert given(source) == [(first, "C", "not ours")]
    left = [one.entry.id for one in read_review(source)["proposals"]]
    assert first not in left
    assert left[0] == second
    view = read_item(source, first)
    assert view is not None
    assert [judgment.judged_by for judgment in view["history"]] == ["Ann"]
    press(source, "judge", id=second, verdict="P")
    assert '<span class="badge">accepted</span>' in page(source, REVIEW, second)
    assert f"--id {second} --confirm" in page(source, REVIEW)


def test_a_fresh_verdict_can_be_taken_back_and_an_old_one_cannot(source: PageSource):
    first = read_review(source)["proposals"][0].entry.id
    old = source.now - timedelta(seconds=61)
    judge(source.workspace, first, VerdictLetter.VIOLATION, cause=None, by="Bo", now=old)
    with pytest.raises(UsageError, match="older than a minute"):
        press(source, "undo", id=first)
    press(source, "judge", id=first, verdict="P", cause="")
    assert press(source, "undo", id=first) == ("review", first)
    assert given(source) == [(first, "V", None)]
    with pytest.raises(UsageError, match="older than a minute"):
        press(source, "undo", id=first)


def test_questions_and_causes_are_shown_to_reviewers_only(source: PageSource):
    first = read_review(source)["proposals"][0]
    press(source, "judge", id=first.entry.id, verdict="P", cause="because Dana said so")
    question = first.entry.example_questions[0][:30]
    for may_review in (True, False):
        html = page(source, REVIEW, first.entry.id, may_review=may_review)
        assert (question in html) is may_review
        assert ("Dana said so" in html) is may_review
        assert ('name="verdict"' in html) is may_review
