"""Settings and environment -> where to search."""

from collections.abc import Mapping

from coreloop.answer.search.failover import Failover
from coreloop.answer.search.index.search_index import IndexProvider
from coreloop.answer.search.provider import Provider
from coreloop.base.errors import UsageError
from coreloop.base.project.settings import SearchProvider
from coreloop.base.project.workspace import Workspace


def choose_providers(workspace: Workspace, environ: Mapping[str, str]) -> Failover:
    """Build the providers that the settings name, in their order.

    Parameters
    ----------
    workspace : Workspace
        Its settings have ``search``.
    environ : mapping of str to str
        Holds the keys, which are nowhere else.

    Raises
    ------
    UsageError
        None is named, or one lacks its address or key; names what to set.
    """
    names = tuple(dict.fromkeys(workspace.settings.search.providers))
    if not names:
        raise UsageError("search: providers is empty; name a provider, for example index")
    return Failover([_provider(name, workspace, environ) for name in names])


def _provider(name: SearchProvider, workspace: Workspace, environ: Mapping[str, str]) -> Provider:
    if name == "index":
        return IndexProvider(workspace.index_file)
    # the HTTP library takes 60 ms
    if name == "searxng":
        from coreloop.answer.search.searxng import SearxngProvider

        return SearxngProvider(_searxng_url(workspace.settings.search.searxng_url))
    if name == "tavily":
        from coreloop.answer.search.tavily import KEY, TavilyProvider

        return TavilyProvider(_key(KEY, environ))
    from coreloop.answer.search.arxiv import ArxivProvider

    return ArxivProvider()


def _searxng_url(url: str | None) -> str:
    if not url or not url.startswith(("http://", "https://")):
        raise UsageError(
            "search: set searxng_url to the address of your SearXNG, such as http://localhost:8080"
        )
    return url


def _key(name: str, environ: Mapping[str, str]) -> str:
    key = environ.get(name, "").strip()
    if not key:
        raise UsageError(f"set {name} to the key of your account")
    if not (key.isascii() and key.isprintable()):
        raise UsageError(f"{name} holds characters that no key has")
    return key
