"""What a research works with: a store of runs, models and a search."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from coreloop.answer.models.choose import choose_model
from coreloop.answer.models.ladder import Ladder
from coreloop.answer.search.choose import choose_providers
from coreloop.answer.search.index.store import require_index
from coreloop.answer.search.page.reader import PageReader
from coreloop.answer.search.provider import Provider
from coreloop.base.project.workspace import Workspace
from coreloop.runs.stores.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """What a research works with.

    Attributes
    ----------
    workspace : Workspace
        Of the project.
    store : Store
        Of the workspace's runs.
    ladder : Ladder
        The models.
    provider : Provider
        The search.
    pages : PageReader or None
        Reads the pages behind the snippets of search services; None if there are none.
    """

    workspace: Workspace
    store: Store
    ladder: Ladder
    provider: Provider
    pages: PageReader | None = None


def open_desk(workspace: Workspace, store: Store, environ: Mapping[str, str]) -> Desk:
    """Put together the models and the search that a project's settings name.

    Raises
    ------
    UsageError
        A model or a search service cannot be used as it is set.
    WorkspaceError
        The index cannot be read.
    """
    has_only_index = set(workspace.settings.search.providers) <= {"index"}
    if has_only_index and workspace.index_file.exists():  # the first question makes one
        require_index(workspace.index_file, now=datetime.now(UTC))
    return Desk(
        workspace=workspace,
        store=store,
        ladder=choose_model(workspace.settings, environ),
        provider=choose_providers(workspace, environ),
        pages=None if has_only_index else PageReader(workspace.pages_dir),
    )
