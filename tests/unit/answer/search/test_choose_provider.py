"""What is missing to search is named."""

from dataclasses import replace
from pathlib import Path

import pytest

from coreloop.answer.search.failover import choose_providers
from coreloop.base.errors import UsageError
from coreloop.base.project.settings import SearchSettings, Settings
from coreloop.base.project.workspace import Workspace


def workspace(tmp_path: Path, **search: object) -> Workspace:
    return Workspace(tmp_path, replace(Settings(), search=SearchSettings(**search)))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("search", "environ", "message"),
    [
        ({"providers": ()}, {}, "search: providers is empty; name a provider, for example index"),
        ({"providers": ("tavily",)}, {}, "set TAVILY_API_KEY to the key of your account"),
        ({"providers": ("tavily",)}, {"TAVILY_API_KEY": "비밀"}, "TAVILY_API_KEY holds characters"),
        ({"providers": ("searxng",)}, {}, "search: set searxng_url to the address of your SearXNG"),
        ({"providers": ("searxng",), "searxng_url": "file:///x"}, {}, "search: set searxng_url"),
    ],
)
def test_what_is_missing_is_named(
    search: dict[str, object], environ: dict[str, str], message: str, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match=message):
        choose_providers(workspace(tmp_path, **search), environ)
