"""Each change is shown before and after with its verdict: on its tool's page and Health."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

import effects
from coreloop.learn.effect.description_changes import Change
from coreloop.learn.effect.effect import Effect
from coreloop.learn.effect.verdict import EffectVerdict
from coreloop.web.pages.page_data import open_source
from coreloop.web.pages.render import Frame, render
from coreloop.web.pages.report import write_report
from effects import LOOK, Planted, make_shop, write_days
from showing import table

PLANTED = (Planted("refund_order", 0.3, 0.02, 60),)


def test_an_alarm_is_marked_and_has_its_figures():
    change = Change(
        tool="pay",
        target="a.py::pay",
        sha="0123456789",
        subject="words",
        place=1,
        merged_at=datetime(2026, 4, 25, tzinfo=UTC),
    )
    one = (Effect(change=change, verdict=EffectVerdict.MOVED, look=LOOK), ())
    view = {"counts": {}, "decided": [], "n_more": 0, "changes": [one]}
    page = render("changes.html", Frame(section="health", root=""), view)
    assert '<span class="badge badge-fail">moved</span>' in page
    assert "all its failures: 30.0% before, 30.0% expected, 10.0% now (-25.0 to -15.0 points)" in page
    assert "compared with 4 tools that did not change" in page


@pytest.mark.slow
def test_the_page_has_the_verdict_and_a_chart(
    tmp_path: Path, quiet_git: None, monkeypatch: pytest.MonkeyPatch
):
    today = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    monkeypatch.setattr(effects, "FIRST_DAY", today - effects.timedelta(days=100))
    shop = make_shop(tmp_path, PLANTED)
    write_days(shop, PLANTED, range(100))
    with open_source(shop.workspace, {}) as source:
        pages = write_report(source, tmp_path / "report")
    (page,) = [page for page in pages if page.stem == "refund_order"]
    text = page.read_text(encoding="utf-8")
    assert "Changes of its description" in text
    assert '<span class="badge badge-ok">helps</span>' in text
    assert "- Always pass reason" in text
    assert "expected without it" in text
    assert '<svg role="img"' in text
    health = (tmp_path / "report" / "health.html").read_text(encoding="utf-8")
    assert "expected without it" in health
    (row,) = table(health, "Decided proposals")
    merged = effects.at(60)
    assert row[0].startswith("- Always pass reason")
    assert (row[1], row[3:]) == ("helps", [f"{merged:%Y-%m-%d}", "#11", "helps"])
    assert row[2] > row[3]  # the verdict came later
