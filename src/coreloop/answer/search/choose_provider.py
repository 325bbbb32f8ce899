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
    from coreloop.answer.search import services  # the HTTP library takes 60 ms

    if name == "arxiv":
        return services.ArxivProvider()
    if name == "tavily":
        key = environ.get(services.TAVILY_KEY, "").strip()
        if not key:
            raise UsageError(f"set {services.TAVILY_KEY} to the key of your account")
        if not (key.isascii() and key.isprintable()):
            raise UsageError(f"{services.TAVILY_KEY} holds characters that no key has")
        return services.TavilyProvider(key)
    url = workspace.settings.search.searxng_url or ""
    if not url.startswith(("http://", "https://")):
        raise UsageError(
            "search: set searxng_url to the address of your SearXNG, such as http://localhost:8080"
        )
    return services.SearxngProvider(url)
