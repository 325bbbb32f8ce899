"""Photograph the pages of a service for docs/pages/: the demo's project in Chromium.

uv run python scripts/screenshots.py
"""

import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Final

from coreloop.demo.helpdesk import HELPDESK
from coreloop.demo.run import run_demo

ROOT: Final = Path(__file__).parents[1]
OUT: Final = ROOT / "docs" / "pages"
QUESTION: Final = "When does pause take effect?"
_HEIGHT: Final = {1280: 1000, 390: 1200}
_QUALITY: Final = 60

sys.path.insert(0, str(ROOT / "tests"))


def main() -> None:
    """Write a picture of each page for each screen."""
    from browsing import SCREENS, chromium, visit
    from serving import served

    from coreloop.cli.main import main as command

    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "helpdesk"
        run_demo(HELPDESK, folder, seed=7, tell=lambda _stage: None)
        shutil.copytree(ROOT / "docs", folder / "docs", ignore=shutil.ignore_patterns("*.jpg"))
        _index(folder, command)
        with served(folder) as service, chromium() as browser:
            paths = _paths(service)
            for width, scheme in SCREENS:
                locale = "ko-KR" if (width, scheme) == (390, "light") else "en-US"
                with visit(browser, service.url, width=width, scheme=scheme, locale=locale) as visited:
                    visited.page.set_viewport_size({"width": width, "height": _HEIGHT[width]})
                    for name, path in paths.items():
                        file = OUT / f"{name}-{width}-{scheme}.jpg"
                        visited.go(path).screenshot(path=file, type="jpeg", quality=_QUALITY)


if __name__ == "__main__":
    main()
