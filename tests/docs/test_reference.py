"""The generated pages are what the code says now."""

import re
import subprocess
import sys

from docs.examples import ROOT


def test_generated_pages_are_what_the_code_says() -> None:
    command = [sys.executable, str(ROOT / "scripts" / "reference.py"), "--check"]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_there_are_at_most_50_settings() -> None:
    page = (ROOT / "docs" / "reference" / "settings.md").read_text(encoding="utf-8")
    assert 0 < len(re.findall("(?m)^- `", page)) <= 50
