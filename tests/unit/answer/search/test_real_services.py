"""Real services are asked: CORELOOP_TEST_SEARCH=arxiv,page pytest tests/unit/search/test_real_services.py.

``tavily`` needs TAVILY_API_KEY, ``searxng`` its address in CORELOOP_TEST_SEARXNG_URL.
"""

import os
from pathlib import Path

import pytest

from coreloop.answer.search.choose_provider import choose_providers
from coreloop.answer.search.page.reader import PageReader
from coreloop.answer.search.provider import Found, SearchLimits
from coreloop.base.project.settings import SearchProvider, SearchSettings, Settings
from coreloop.base.project.workspace import Workspace

NAMES = os.environ.get("CORELOOP_TEST_SEARCH", "")
pytestmark = pytest.mark.skipif(
    not NAMES, reason="set CORELOOP_TEST_SEARCH to services, such as arxiv,searxng,tavily,page"
)


@pytest.mark.parametrize("name", ["searxng", "tavily", "arxiv"])
def test_a_service_finds_sources(name: SearchProvider, tmp_path: Path) -> None:
    require(name)
    url = os.environ.get("CORELOOP_TEST_SEARXNG_URL")
    search = SearchSettings(providers=(name,), searxng_url=url)
    provider = choose_providers(Workspace(tmp_path, Settings(search=search)), os.environ)
    answer = provider.search("attention transformer", SearchLimits(max_results=3))
    assert isinstance(answer, Found), answer
    assert all(source.location.startswith("http") and source.text for source in answer.sources)


def test_a_page_is_read(tmp_path: Path) -> None:
    require("page")
    answer = PageReader(tmp_path).read("https://arxiv.org/abs/1706.03762", SearchLimits())
    assert isinstance(answer, Found), answer
    assert "attention" in answer.sources[0].text.lower()


def require(name: str) -> None:
    if name not in NAMES.split(","):
        pytest.skip(f"CORELOOP_TEST_SEARCH does not name {name}")
