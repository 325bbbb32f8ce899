"""The use case of Phase A: read a project's history, write a document for a human."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from coreloop.base.git.repository import Repository
from coreloop.base.project.workspace import Workspace
from coreloop.promote.axis.case import AxisCase, AxisRequest, make_case
from coreloop.promote.axis.proposal import write_proposal


@dataclass(frozen=True, slots=True)
class AxisResult:
    """The result of ``propose-axis``.

    Attributes
    ----------
    path : Path or None
        The document; None if a gate is not passed.
    written : bool
        Whether it was written; False if it already has the section of the day.
    """

    case: AxisCase
    path: Path | None = None
    written: bool = False


def run_propose_axis(workspace: Workspace, request: AxisRequest, *, now: datetime) -> AxisResult:
    """Weigh the history of an axis and, if every gate is passed, write the document.

    Parameters
    ----------
    workspace : Workspace
        The project.
    request : AxisRequest
        Engine, axis and thresholds.
    now : datetime
        Aware; its day names the section.

    Raises
    ------
    UsageError
        The engine is not a tool name, or the axis is empty.
    GitError
        The repository is absent, the clone is shallow, or the base branch does not exist.
    WorkspaceError
        The document cannot be read or written.
    """
    with Repository(workspace.root) as repository:
        case = make_case(repository, workspace, request, now=now)
    if not case.passed:
        return AxisResult(case)
    return AxisResult(case, *write_proposal(case, workspace, today=now.date()))
