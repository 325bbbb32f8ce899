"""The steps of the workflow that runs every night.

    python -m coreloop.cli.nightly summary FOLDER
    python -m coreloop.cli.nightly outputs FOLDER
    python -m coreloop.cli.nightly drafts FOLDER DRAFTS
    python -m coreloop.cli.nightly dashboard
    python -m coreloop.cli.nightly comments

summary prints the newest proposals of FOLDER as Markdown. outputs prints two outputs of a job: page, what
waits and what is wrong in this project, with these proposals; and comments, the verdicts on merged
promotions. dashboard writes PAGE and RESULT, with a link to the run, into the dashboard issue; comments
writes COMMENTS under their pull requests. drafts promotes every candidate with text in the newest file of
FOLDER, and takes back merged lines that hurt or do too little: branches are pushed, pull requests written
into the folder DRAFTS; it exits with 1 if no draft was prepared although one could have been.
"""

import os
import sys
import traceback
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from coreloop.admin.status.dashboard import dashboard_body, job_outputs, read_comments
from coreloop.base.errors import CoreloopError, UsageError, WorkspaceError
from coreloop.base.github.connect import open_api
from coreloop.base.github.issues import write_comment, write_dashboard
from coreloop.base.project.workspace import open_workspace
from coreloop.base.streams import outlive_readers
from coreloop.learn.proposals.proposal_files import job_summary
from coreloop.promote.nightly import drafts_summary, is_empty, prepare_drafts, prepare_retirements


def main(arguments: Sequence[str], environ: Mapping[str, str]) -> int:
    """Entry point; 1 if no draft was prepared, 2 for what a user or a server did, 3 for a bug."""
    now = datetime.now(UTC)
    try:
        match arguments:
            case ["summary", folder]:
                print(_summary(Path(folder)))
            case ["outputs", folder]:
                print(
                    job_outputs(open_workspace(Path.cwd()), _summary(Path(folder)), now=now, environ=environ)
                )
            case ["drafts", folder, drafts]:
                return _drafts(Path(folder), Path(drafts), environ, now)
            case ["dashboard"]:
                print(_dashboard(environ))
            case ["comments"]:
                _comments(environ)
            case _:
                print((__doc__ or "").strip(), file=sys.stderr)
                return 2
    except CoreloopError as error:
        print(f"coreloop: {error}", file=sys.stderr)
        return 2
    except Exception:
        traceback.print_exc()  # would end with 1
        return 3
    return 0


def _newest(folder: Path, kind: str) -> Path:
    paths = sorted(folder.glob(f"*-{kind}.json"))
    if not paths:
        raise WorkspaceError(f"holds no {kind}", path=folder)
    return paths[-1]


def _summary(folder: Path) -> str:
    return job_summary(*(_newest(folder / kind, kind) for kind in ("candidates", "counterexamples")))


def _drafts(folder: Path, drafts: Path, environ: Mapping[str, str], now: datetime) -> int:
    path, workspace = _newest(folder, "candidates"), open_workspace(Path.cwd())
    warn = partial(print, file=sys.stderr)
    outcomes = list(prepare_drafts(workspace, path, drafts, environ=environ, now=now, warn=warn))
    outcomes += prepare_retirements(workspace, drafts, environ=environ, now=now)
    print(drafts_summary(outcomes))
    return 1 if is_empty(outcomes) else 0


def _dashboard(environ: Mapping[str, str]) -> str:
    names = ("GITHUB_REPOSITORY", "GITHUB_SERVER_URL", "GITHUB_RUN_ID")
    repo, server, run = (_required(environ, name) for name in names)
    result, url = environ.get("RESULT") or "unknown", f"{server}/{repo}/actions/runs/{run}"
    body = dashboard_body(environ.get("PAGE", ""), result=result, run_url=url)
    return write_dashboard(open_api(repo, environ), body)


def _comments(environ: Mapping[str, str]) -> None:
    api = open_api(_required(environ, "GITHUB_REPOSITORY"), environ)
    for comment in read_comments(environ.get("COMMENTS", "")):
        print(write_comment(api, comment.pull_request, comment.text))


def _required(environ: Mapping[str, str], name: str) -> str:
    if not environ.get(name):
        raise UsageError(f"{name} is not set; this runs in a GitHub workflow")
    return environ[name]


if __name__ == "__main__":
    outlive_readers()
    sys.exit(main(sys.argv[1:], os.environ))
