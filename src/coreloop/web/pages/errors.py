"""The section on errors: what each tool's errors cost, and who can mend them. It is in no shared report."""

from dataclasses import dataclass
from datetime import date
from typing import Final

from coreloop.base.errors import WorkspaceError
from coreloop.base.project.workspace import Workspace
from coreloop.learn.proposals.proposal_files import read_counterexamples
from coreloop.learn.proposals.task import ErrorRow
from coreloop.web.pages.page_data import PageSection, PageSource, View


@dataclass(frozen=True, slots=True)
class ErrorTable:
    """The errors of a window of days, as ``refine`` last found them; no days if it never ran."""

    rows: tuple[ErrorRow, ...] = ()
    since: date | None = None
    until: date | None = None


def read_errors(workspace: Workspace) -> ErrorTable:
    """Read the table of the newest readable file of ``refine``."""
    for path in sorted(workspace.counterexamples_dir.glob("????-??-??-counterexamples.json"), reverse=True):
        try:
            document = read_counterexamples(path)
        except WorkspaceError:  # status names damaged files
            continue
        return ErrorTable(document.errors, document.window.since, document.window.until)
    return ErrorTable()


def read_section(source: PageSource) -> View:
    """Return the table; a shared page has none, since an error's text may name what only users know."""
    if source.is_shared:
        return {"table": ErrorTable(), "is_shared": True}
    workspace = source.workspace
    folders = [workspace.counterexamples_dir]
    table = source.snapshots.get("errors", folders, lambda: read_errors(workspace)).value
    return {"table": table, "is_shared": False}


ERRORS: Final = PageSection(name="errors", title="Errors", read=read_section)
