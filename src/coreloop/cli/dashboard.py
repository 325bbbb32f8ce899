"""The dashboard issue, for the workflow that runs every night.

    python -m coreloop.cli.dashboard --render STATUS FOLDER
    python -m coreloop.cli.dashboard

The first prints what waits and what is wrong as Markdown, from a file with the output of status --json and
the folder of the sanitized proposals. The second writes PAGE and RESULT, with a link to the run, into the
dashboard issue of GITHUB_REPOSITORY.
"""

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from coreloop.admin.status.dashboard import dashboard_body, dashboard_page, read_facts
from coreloop.base.errors import CoreloopError, UsageError
from coreloop.base.github.github_api import DEFAULT_URL, GithubApi
from coreloop.base.github.issues import write_dashboard
from coreloop.base.github.urllib_transport import UrllibTransport
from coreloop.base.streams import outlive_readers
from coreloop.cli.job_summary import summary


def main(arguments: Sequence[str], environ: Mapping[str, str]) -> int:
    """Entry point; 2 is a usage error, an unreadable file, or a failed request."""
    try:
        match arguments:
            case ["--render", status, folder]:
                print(dashboard_page(read_facts(Path(status)), summary(Path(folder))))
            case []:
                print(_write(environ))
            case _:
                print((__doc__ or "").strip(), file=sys.stderr)
                return 2
    except CoreloopError as error:
        print(f"coreloop: {error}", file=sys.stderr)
        return 2
    return 0


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
    url = environ.get("GITHUB_API_URL") or DEFAULT_URL
    with GithubApi(repo, UrllibTransport(environ.get("GITHUB_TOKEN", ""), base_url=url)) as api:
        issue = write_dashboard(api, body)
    return f"{'created' if issue.created else 'edited'} {issue.url}"


if __name__ == "__main__":
    outlive_readers()
    sys.exit(main(sys.argv[1:], os.environ))
