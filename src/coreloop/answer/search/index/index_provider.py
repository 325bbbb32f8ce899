"""The local index as a provider."""

from dataclasses import dataclass
from pathlib import Path

from coreloop.answer.search.index.search_index import search_index
from coreloop.answer.search.provider import Empty, Failed, Found, SearchAnswer, SearchLimits
from coreloop.base.errors import SearchTimeoutError, WorkspaceError


@dataclass(frozen=True, slots=True)
class IndexProvider:
    """Searches the files that ``dartlab-coreloop index`` has read; several threads may share it."""

    path: Path
    name: str = "index"

    def search(self, query: str, limits: SearchLimits) -> SearchAnswer:
        """Search once; without an index the answer is `Failed` and says how to make one."""
        try:
            sources = search_index(self.path, query, limits)
        except SearchTimeoutError as error:
            return Failed(str(error))
        except WorkspaceError as error:
            return Failed(str(error), is_retryable=False)
        return Found(tuple(sources)) if sources else Empty()
