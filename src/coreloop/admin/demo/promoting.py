"""The demo's last step: commit a statement to a branch of a scratch repository."""

import os
import sys
from dataclasses import dataclass, replace
from pathlib import Path

from coreloop.base.project.workspace import open_workspace
from coreloop.promote.commits import WritableRepository, init_repository
from coreloop.promote.draft_pull_request import Done, promote
from coreloop.promote.plan import Plan, Promoting
from coreloop.promote.proposal_entry import read_proposal
from coreloop.promote.replay import ask_nobody
from coreloop.promote.run import keep_body

_IGNORED = "data/\n__pycache__/\n"
_CONFIG = {
    "user.name": "coreloop demo",
    "user.email": "demo@example.invalid",
    "commit.gpgsign": "false",
    "core.hooksPath": os.devnull,
}


@dataclass(frozen=True, slots=True)
class Promoted:
    """The plan, its outcome, and the file with the pull request's text."""

    plan: Plan
    done: Done
    body: Path


def promote_statement(folder: Path, proposals: Path, statement: str) -> Promoted:
    """Promote a statement of the demo's project after making the project a git repository.

    Parameters
    ----------
    folder : Path
        The demo's project.
    proposals : Path
        A file of proposals.
    statement : str
        Id of a statement in the file.
    """
    (folder / ".gitignore").write_text(_IGNORED, encoding="utf-8")
    # a scratch repository does not use the user's signing key and hooks
    init_repository(folder, _CONFIG, message="docs: a small help desk")
    workspace = open_workspace(folder)
    proposal = read_proposal(proposals, statement, workspace.settings)
    repository = WritableRepository(folder)
    # some machines have no program called python
    reach = replace(workspace.settings.reach, python=sys.executable)
    promoting = Promoting(
        workspace=replace(workspace, settings=replace(workspace.settings, reach=reach)),
        repository=repository,
        proposals=(proposal,),
        ask=ask_nobody,
    )
    plan, done = promote(promoting, None)
    assert plan is not None  # a new repository has no branch of an earlier run
    return Promoted(plan, done, keep_body(plan, proposals.parent))
