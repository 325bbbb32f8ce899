"""docs/llms.txt lists every page of the navigation, as it is."""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "scripts"))

import llms  # noqa: E402 - needs the path above


def test_the_list_for_models_is_current():
    assert llms.main(check=True) == 0


def test_every_page_is_listed_once():
    listed = [line.partition("](")[2].partition(")")[0] for line in llms.FILE.read_text("utf-8").splitlines()]
    pages = [str(path.relative_to(llms.DOCS)) for path in llms.DOCS.rglob("*.md")]
    assert sorted(filter(None, listed)) == sorted(pages)
