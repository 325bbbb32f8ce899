"""What a page may load: a report says it itself, and a browser that obeys it still shows the report."""

from pathlib import Path

import pytest

from browsing import chromium, needs_chromium, visit
from coreloop.web.pages.page_data import PageSource
from coreloop.web.pages.render import REPORT_POLICY
from coreloop.web.pages.report import write_report
from showing import elements


@pytest.mark.slow
def test_every_page_of_a_report_has_the_policy_before_anything_is_loaded(
    unchanged: PageSource, tmp_path: Path
):
    for page in write_report(unchanged, tmp_path / "report"):
        head = next(elements(page.read_text(encoding="utf-8")).iter("head"))
        names = [child.get("http-equiv") or child.tag for child in head]
        policy = head[names.index("Content-Security-Policy")].get("content")
        assert policy == REPORT_POLICY
        assert names.index("Content-Security-Policy") < names.index("link")


@pytest.mark.slow
@needs_chromium
def test_a_browser_shows_the_report_with_its_style_and_runs_nothing_in_it(
    unchanged: PageSource, tmp_path: Path
):
    pages = write_report(unchanged, tmp_path / "report")
    page = pages[0]
    page.write_text(page.read_text(encoding="utf-8").replace("</main>", "<script>alert(1)</script></main>"))
    with chromium() as browser, visit(browser, tmp_path.as_uri()) as visited:
        shown = visited.go(f"/{page.relative_to(tmp_path)}")
        assert shown.evaluate("getComputedStyle(document.querySelector('.skip')).position") == "absolute"
        assert visited.hacked == []
        assert any("Content Security Policy" in complaint for complaint in visited.complaints)
