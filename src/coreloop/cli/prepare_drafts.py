"""Prepare the drafts of a nightly run, for the workflow that opens them.

    python -m coreloop.cli.prepare_drafts FOLDER DRAFTS

Promotes every candidate with text in the newest candidates file of FOLDER, and takes back merged lines that
hurt or do too little: branches are pushed to the remote, pull requests written into the folder DRAFTS. Prints
as Markdown what became of each. Exits 1 if no draft was prepared although one could have been.
"""

import os
import sys
import traceback
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from coreloop.base.errors import CoreloopError
from coreloop.base.project.workspace import open_workspace
from coreloop.base.streams import outlive_readers
from coreloop.cli.job_summary import newest
from coreloop.promote.nightly import drafts_summary, is_empty, prepare_drafts, prepare_retirements


def main(arguments: Sequence[str]) -> int:
    """Entry point; 1 if no draft was prepared, 2 for a usage error or an unreadable file, 3 for a bug."""
    if len(arguments) != 2:
        print((__doc__ or "").strip(), file=sys.stderr)
        return 2
    try:
        path = newest(Path(arguments[0]), "candidates")
        workspace, now = open_workspace(Path.cwd()), datetime.now(UTC)
        drafts, environ = Path(arguments[1]), os.environ
        outcomes = list(prepare_drafts(workspace, path, drafts, environ=environ, now=now, warn=_warn))
        outcomes += prepare_retirements(workspace, drafts, environ=environ, now=now)
    except CoreloopError as error:
        _warn(f"coreloop: {error}")
        return 2
    except Exception:
        traceback.print_exc()  # would end with 1
        return 3
    print(drafts_summary(outcomes))
    return 1 if is_empty(outcomes) else 0


def _warn(text: str) -> None:
    print(text, file=sys.stderr)


if __name__ == "__main__":
    outlive_readers()
    sys.exit(main(sys.argv[1:]))
