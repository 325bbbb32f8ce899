"""Which cited files no longer have the text that was read in them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from coreloop.answer.research.answer import cited_sources
from coreloop.answer.search.extract.document import Document
from coreloop.answer.search.extract.kinds import extractor_of
from coreloop.answer.search.index.tree import MAX_FILE_BYTES
from coreloop.base.files import open_regular
from coreloop.base.project.workspace import Workspace
from coreloop.runs.state import State

Change = Literal["changed", "removed"]


@dataclass(frozen=True, slots=True)
class ChangedSource:
    """A cited file; ``id`` is the citation, ``[3]``."""

    id: str
    location: str
    change: Change


def changed_sources(state: State, workspace: Workspace) -> tuple[ChangedSource, ...]:
    """Compare the cited passages with their files, which are read again; pages of the web are not.

    Returns
    -------
    tuple of ChangedSource
        Files that are gone, and those in which a passage no longer stands. What cannot be read is left out.
    """

    @cache
    def text_of(location: str) -> str | None:
        return _read(workspace, location)

    changed = []
    for read in cited_sources(state):
        if read.source.start is None or read.source.location.startswith(("http://", "https://")):
            continue
        try:
            text = text_of(read.source.location)
        except (FileNotFoundError, NotADirectoryError):
            changed.append(ChangedSource(f"[{read.number}]", read.source.location, "removed"))
            continue
        if text is not None and read.source.text not in text:
            changed.append(ChangedSource(f"[{read.number}]", read.source.location, "changed"))
    return tuple(changed)


def changed_line(changed: Sequence[ChangedSource]) -> str:
    """Name the files in one line: ``changed since: a.md [1]; removed since: b.md [2]``."""
    return "; ".join(_named(changed))


def _named(changed: Sequence[ChangedSource]) -> Iterator[str]:
    for change in dict.fromkeys(source.change for source in changed):
        files = ", ".join(f"{source.location} {source.id}" for source in changed if source.change == change)
        yield f"{change} since: {files}"


def _read(workspace: Workspace, location: str) -> str | None:
    """Return the text of a file as the index reads it, or None if it cannot be read; a missing one raises."""
    extract = extractor_of(location, workspace.schemas)
    try:
        with open_regular(workspace.root / location) as file:
            data = file.read(MAX_FILE_BYTES)
    except (FileNotFoundError, NotADirectoryError):
        raise
    except OSError:
        return None
    document = extract(data) if extract else None
    return document.text if isinstance(document, Document) else None
