"""What the jobs of repairs do. Each can be done again: the outcome is the same."""

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from coreloop.answer.deps import Deps
from coreloop.answer.repair.actions import INDEX_FILE, INDEX_MODULE, INJECT, SUGGEST_LINK
from coreloop.answer.repair.injected_evidence import evidence_of_file
from coreloop.answer.repair.store import RepairStore
from coreloop.answer.search.index.imports import read_imports
from coreloop.answer.search.index.run import index_paths
from coreloop.base.errors import WorkspaceError
from coreloop.base.project.workspace import Workspace
from coreloop.runs.jobs.work import Handler
from coreloop.runs.load import load_run

MAX_CHAIN: Final = 50
"""Files of an import chain."""


def job_handlers(deps: Deps) -> Mapping[str, Handler]:
    """Return what does each job, by the job's name."""
    workspace = deps.workspace
    return {
        INDEX_FILE: lambda job: _index(workspace, [job.payload["path"]]),
        INDEX_MODULE: lambda job: _index(workspace, _chain(workspace, job.payload["path"])),
        INJECT: lambda job: _inject(deps, job.payload),
        SUGGEST_LINK: lambda job: _suggest(deps.tables, job.payload),
    }


def _index(workspace: Workspace, locations: list[str]) -> dict[str, int]:
    root = workspace.root.resolve()
    paths = [_inside(root, location) for location in locations]
    try:
        return dict(index_paths(workspace, paths, now=_now()).counts)
    except WorkspaceError:
        if any(path.exists() for path in paths):
            raise
        return {}  # removed before it was indexed: nothing is left to do


def _chain(workspace: Workspace, location: str) -> list[str]:
    """Return a file and the project's files that it imports, directly or not, the nearest first."""
    chain = [location]
    for file in chain:
        imported = read_imports(file, workspace.root.resolve())
        chain += [name for name in imported if name not in chain][: MAX_CHAIN - len(chain)]
    return chain


def _inject(deps: Deps, payload: Mapping[str, Any]) -> int:
    question = load_run(deps.store, payload["run"])[0].state.question
    root = deps.workspace.root.resolve()
    _inside(root, payload["path"])
    found = evidence_of_file(root, payload["path"], question, now=_now())
    for evidence in found:
        deps.tables.inject(evidence)
    return len(found)


def _suggest(tables: RepairStore, payload: Mapping[str, Any]) -> str:
    suggestion = tables.suggest(
        action=SUGGEST_LINK, target=payload["code_symbol"], details=dict(payload), now=_now()
    )
    return suggestion.id


def _inside(root: Path, location: str) -> Path:
    """Return the path of a location, which must be in the project.

    Raises
    ------
    WorkspaceError
        It is outside.
    """
    path = (root / location).resolve()
    if not path.is_relative_to(root):
        raise WorkspaceError("is outside of the project; repairs read nothing there", path=path)
    return path


def _now() -> datetime:
    return datetime.now(UTC)
