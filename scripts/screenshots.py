"""Photograph the demo's pages for docs/pages/, and the tutorial's draft for pull-request.png, in Chromium.

uv run python scripts/screenshots.py
"""

import json
import shutil
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from markdown_it import MarkdownIt
from playwright.sync_api import Browser

from coreloop.admin.demo.run import run_demo

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from browsing import chromium, visit
from docs.examples import left_by
from serving import Served, served

ROOT: Final = Path(__file__).parents[1]
OUT: Final = ROOT / "docs" / "pages"
QUESTION: Final = "When does pause take effect?"
_RECORDS: Final = {
    "review": "/ui/review/ce-{day}-004",
    "health": "/ui/health",
    "tool": "/ui/tools/refund_order",
}
_WIDTH: Final = 1280
_HEIGHT: Final = 1000
_QUALITY: Final = 60
_STYLE: Final = """
body {font: 15px/1.5 system-ui, sans-serif; color: #1f2328; margin: 24px 40px; width: 980px}
h1, h2 {border-bottom: 1px solid #d1d9e0; padding-bottom: 0.3em; font-size: 22px; font-weight: 600}
h2 {font-size: 18px} table {border-collapse: collapse; font-size: 13px; width: 100%}
th, td {border: 1px solid #d1d9e0; padding: 4px 9px; text-align: left} th, pre {background: #f6f8fa}
code {background: #eff1f3; border-radius: 6px; padding: 2px 5px; font-size: 85%}
pre {padding: 12px; border-radius: 6px} pre code {background: none; padding: 0}
"""
"""As GitHub shows a pull request."""


def main() -> None:
    """Write a picture of each page, and one of a draft."""
    with tempfile.TemporaryDirectory() as scratch:
        folder, now = Path(scratch) / "helpdesk", datetime.now(UTC)
        run_demo(folder, seed=7, now=now, tell=lambda _stage: None)
        shutil.copytree(ROOT / "docs", folder / "docs", ignore=shutil.ignore_patterns("*.jpg"))
        subprocess.run([sys.executable, "-m", "coreloop", "index", "docs"], cwd=folder, check=True)
        with served(folder) as service, chromium() as browser:
            _shoot_draft(browser)
            records = {name: path.format(day=now.date()) for name, path in _RECORDS.items()}
            _shoot(browser, service, records)  # before any answer is a record of today
            _shoot(browser, service, _runs(service))


def _shoot(browser: Browser, service: Served, paths: dict[str, str]) -> None:
    with visit(browser, service.url, width=_WIDTH, scheme="light") as visited:
        visited.page.set_viewport_size({"width": _WIDTH, "height": _HEIGHT})
        for name, path in paths.items():
            visited.go(path).screenshot(path=OUT / f"{name}.jpg", type="jpeg", quality=_QUALITY)


def _shoot_draft(browser: Browser) -> None:
    command = [sys.executable, "-m", "coreloop", "promote", "--tool", "book_room", "--json"]
    folder = left_by(ROOT / "docs" / "tutorial-propose.md")
    plan = json.loads(subprocess.run(command, cwd=folder, check=True, stdout=subprocess.PIPE).stdout)
    markdown = MarkdownIt("commonmark", {"breaks": True, "html": False}).enable("table")
    page = browser.new_page(viewport={"width": 1060, "height": 600})
    text = f"# {plan['title']}\n\n{plan['body']}"
    page.set_content(f"<style>{_STYLE}</style>{markdown.render(text)}")
    page.screenshot(path=ROOT / "docs" / "pull-request.png", full_page=True)


def _runs(service: Served) -> dict[str, str]:
    with service.client() as client:
        asked = client.post("/run", json={"task": QUESTION, "max_iters": 2}).json()
    return {"run": f"/ui/runs/{asked['run_id']}"}


if __name__ == "__main__":
    main()
