"""The section on errors: what failures cost and who can mend them, as ``refine`` saw it last."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from typing import Final

from coreloop.base.project.workspace import Workspace
from coreloop.learn.proposals.counterexamples import CounterexamplesFile, ErrorRow, Mender
from coreloop.learn.proposals.night import MIN_PUBLISHED, read_every_night
from coreloop.web.pages.section import PageSection, View
from coreloop.web.pages.source import PageSource
from coreloop.web.pages.waiting import vocabulary

MENDERS: Final[dict[Mender, str]] = {
    "text": "a line of the description",
    "schema": "the parameter's schema",
    "tool": "the tool's code",
    "policy": "who gives permissions",
    "user": "the user",
}
_MAX_SHOWN: Final = 100


def read_errors(source: PageSource) -> View:
    """List the errors of the newest ``refine``, those that cost most requests first."""
    workspace = source.workspace
    folder = workspace.counterexamples_dir
    day, errors = source.snapshots.get("errors", [folder], lambda: _newest(workspace)).value
    if source.is_shared:
        errors = _shared(source, errors)
    return {
        "day": day,
        "errors": errors[:_MAX_SHOWN],
        "n_more": max(0, len(errors) - _MAX_SHOWN),
        "menders": MENDERS,
    }


def _newest(workspace: Workspace) -> tuple[date | None, Sequence[ErrorRow]]:
    files = read_every_night(workspace.candidates_dir, workspace.counterexamples_dir).files.values()
    nights = [file for file in files if isinstance(file, CounterexamplesFile)]
    newest = max(nights, key=lambda night: night.generated_at, default=None)
    return (newest.generated_at.date(), newest.errors) if newest is not None else (None, ())


def _shared(source: PageSource, errors: Sequence[ErrorRow]) -> Sequence[ErrorRow]:
    """The errors of declared tools and of enough cases, by their class: their texts may be anybody's."""
    words = vocabulary(source.workspace, {row.tool for row in errors})
    listed = (row for row in errors if words.is_known(row.tool) and row.n_cases >= MIN_PUBLISHED)
    return [replace(row, error="", nearest=()) for row in listed]


ERRORS: Final = PageSection(name="errors", title="Errors", read=read_errors)
