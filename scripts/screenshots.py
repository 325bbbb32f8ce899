"""Photograph the pages of a service for docs/pages/: the demo's project in Chromium.

uv run python scripts/screenshots.py
"""

import shutil
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from playwright.sync_api import Browser

from coreloop.admin.demo.helpdesk import HELPDESK
from coreloop.admin.demo.run import run_demo

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from browsing import SCREENS, chromium, visit
from serving import Served, served

ROOT: Final = Path(__file__).parents[1]
OUT: Final = ROOT / "docs" / "pages"
QUESTION: Final = "When does pause take effect?"
_RECORDS: Final = {
    "review": "/ui/review/ce-{day}-004",
    "health": "/ui/health",
    "tool": "/ui/tools/refund_order",
}
_HEIGHT: Final = {1280: 1000, 390: 1200}
_QUALITY: Final = 60


def main() -> None:
    """Write a picture of each page for each screen."""
    with tempfile.TemporaryDirectory() as scratch:
        folder, now = Path(scratch) / "helpdesk", datetime.now(UTC)
        run_demo(HELPDESK, folder, seed=7, now=now, tell=lambda _stage: None)
        shutil.copytree(ROOT / "docs", folder / "docs", ignore=shutil.ignore_patterns("*.jpg"))
        subprocess.run([sys.executable, "-m", "coreloop", "index", "docs"], cwd=folder, check=True)
        with served(folder) as service, chromium() as browser:
            records = {name: path.format(day=now.date()) for name, path in _RECORDS.items()}
            _shoot(browser, service, records)  # before any answer is a record of today
            _shoot(browser, service, _runs(service))


def _shoot(browser: Browser, service: Served, paths: dict[str, str]) -> None:
    for width, scheme in SCREENS:
        locale = "ko-KR" if (width, scheme) == (390, "light") else "en-US"
        with visit(browser, service.url, width=width, scheme=scheme, locale=locale) as visited:
            visited.page.set_viewport_size({"width": width, "height": _HEIGHT[width]})
            for name, path in paths.items():
                file = OUT / f"{name}-{width}-{scheme}.jpg"
                visited.go(path).screenshot(path=file, type="jpeg", quality=_QUALITY)


def _runs(service: Served) -> dict[str, str]:
    """Ask something that is answered, and something that is not."""
    with service.client() as client:
        asked = client.post("/run", json={"task": QUESTION, "max_iters": 2}).json()
        client.post("/ask", json={"question": "Who won on Mars?"})
    return {"run": f"/ui/runs/{asked['run_id']}", "work": "/ui/work"}


if __name__ == "__main__":
    main()
