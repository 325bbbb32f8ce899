"""An index of a folder, for tests."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from coreloop.answer.search.index.run import IndexReport, index_paths
from coreloop.answer.search.index.search_index import IndexProvider
from coreloop.answer.search.provider import Found, SearchLimits, Source
from coreloop.base.project.settings import Settings
from coreloop.base.project.workspace import Workspace


@dataclass(frozen=True)
class Indexed:
    """A project with files and an index of them."""

    root: Path

    @property
    def workspace(self) -> Workspace:
        return Workspace(self.root, Settings())

    @property
    def file(self) -> Path:
        return self.workspace.index_file

    def write(self, files: Mapping[str, str | bytes]) -> None:
        for name, content in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)

    def update(self, *names: str) -> IndexReport:
        return index_paths(
            self.workspace, [self.root / name for name in names or ["."]], now=datetime.now(UTC)
        )

    def search(self, query: str, most: int = 10) -> tuple[Source, ...]:
        answer = IndexProvider(self.file).search(query, SearchLimits(max_results=most))
        return answer.sources if isinstance(answer, Found) else ()

    def locations(self, query: str) -> list[str]:
        return list(dict.fromkeys(source.location for source in self.search(query)))
