"""Phase A as one use case: a project's history in, a document for a human out."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from coreloop.axis.case import AxisRequest, Case, make_case
from coreloop.axis.proposal import write_proposal
from coreloop.history.repository import Repository
from coreloop.project.workspace import Workspace


@dataclass(frozen=True, slots=True)
class AxisResult:
    """What ``propose-axis`` found and wrote.

    Attributes
    ----------
    path : Path or None
        The document; None when a gate says no.
    written : bool
        Whether it was written; the section of the day may be there already.
    """

    case: Case
    path: Path | None = None
    written: bool = False


def run_propose_axis(workspace: Workspace, request: AxisRequest, *, now: datetime) -> AxisResult:
    """Weigh the history of an axis and, when every gate is passed, write the document.

    Parameters
    ----------
    workspace : Workspace
        The project.
    request : AxisRequest
        What would be built, and what is needed for it.
    now : datetime
        Aware; its day names the section.

    Raises
    ------
    UsageError
        The engine is no tool's name, or the axis is empty.
    GitError
        There is no repository, the clone is shallow, or has no base branch.
    WorkspaceError
        The document cannot be read or written.
    """
    with Repository(workspace.root) as repository:
        case = make_case(repository, workspace, request, now=now)
    if not case.passed:
        return AxisResult(case)
    return AxisResult(case, *write_proposal(case, workspace, today=now.date()))
