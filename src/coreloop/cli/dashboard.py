"""The dashboard issue, for the workflow that runs every night.

    python -m coreloop.cli.dashboard --outputs FOLDER
    python -m coreloop.cli.dashboard --comment
    python -m coreloop.cli.dashboard

The first prints two outputs of a job: page, what waits and what is wrong in this project, with the sanitized
proposals of FOLDER; and comments, the verdicts on merged promotions. The second writes these, in COMMENTS,
under their pull requests. The last writes PAGE and RESULT, with a link to the run, into the dashboard issue.
"""

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from coreloop.admin.status.dashboard import dashboard_body, job_outputs, read_comments
from coreloop.base.errors import CoreloopError, UsageError
from coreloop.base.github.connect import open_api
from coreloop.base.github.issues import write_comment, write_dashboard
from coreloop.base.project.workspace import open_workspace
from coreloop.base.streams import outlive_readers
from coreloop.cli.job_summary import summary


def main(arguments: Sequence[str], environ: Mapping[str, str]) -> int:
    """Entry point; 2 is a usage error, an unreadable file, or a failed request."""
    try:
        match arguments:
            case ["--outputs", folder]:
                workspace, proposed = open_workspace(Path.cwd()), summary(Path(folder))
                print(job_outputs(workspace, proposed, now=datetime.now(UTC), environ=environ))
            case ["--comment"]:
                for line in _comment(environ):
                    print(line)
            case []:
                print(_write(environ))
            case _:
                print((__doc__ or "").strip(), file=sys.stderr)
                return 2
    except CoreloopError as error:
        print(f"coreloop: {error}", file=sys.stderr)
        return 2
    return 0


def _comment(environ: Mapping[str, str]) -> Iterator[str]:
    repo = environ.get("GITHUB_REPOSITORY")
    if not repo:
        raise UsageError("GITHUB_REPOSITORY is not set; this runs in a GitHub workflow")
    with open_api(repo, environ) as api:
        for comment in read_comments(environ.get("COMMENTS", "")):
            written = write_comment(api, comment.pull_request, comment.text)
            yield f"{written.done} {written.url}"


def _write(environ: Mapping[str, str]) -> str:
    names = ("GITHUB_REPOSITORY", "GITHUB_SERVER_URL", "GITHUB_RUN_ID")
    absent = [name for name in names if not environ.get(name)]
    if absent:
        raise UsageError(f"{absent[0]} is not set; this runs in a GitHub workflow")
    repo, server, run = (environ[name] for name in names)
    body = dashboard_body(
        environ.get("PAGE", ""),
        result=environ.get("RESULT") or "unknown",
        run_url=f"{server}/{repo}/actions/runs/{run}",
    )
    with open_api(repo, environ) as api:
        issue = write_dashboard(api, body)
    return f"{'created' if issue.created else 'edited'} {issue.url}"


if __name__ == "__main__":
    outlive_readers()
    sys.exit(main(sys.argv[1:], os.environ))
