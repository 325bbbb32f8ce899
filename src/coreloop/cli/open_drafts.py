"""Open the drafts of a nightly run, for the workflow that runs it.

    python -m coreloop.cli.open_drafts FOLDER

Promotes every candidate with text in the newest candidates file of the folder, takes back merged lines that
hurt or do too little, and prints as Markdown what became of each. Exits 1 if no draft was opened although
one could have been.
"""

import os
import sys
import traceback
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from coreloop.base.chosen_language import choose_language
from coreloop.base.errors import CoreloopError
from coreloop.base.messages import speak
from coreloop.base.project.workspace import open_workspace
from coreloop.base.streams import outlive_readers
from coreloop.cli.job_summary import newest
from coreloop.promote.nightly import drafts_summary, is_empty, open_drafts, open_retirements


def main(arguments: Sequence[str]) -> int:
    """Entry point; 1 if no draft was opened, 2 for a usage error or an unreadable file, 3 for a bug."""
    speak(choose_language([], os.environ, Path.cwd()))
    if len(arguments) != 1:
        print((__doc__ or "").strip(), file=sys.stderr)
        return 2
    try:
        path = newest(Path(arguments[0]), "candidates")
        workspace, now = open_workspace(Path.cwd()), datetime.now(UTC)
        outcomes = list(open_drafts(workspace, path, environ=os.environ, now=now, warn=_warn))
        outcomes += open_retirements(workspace, environ=os.environ, now=now)
    except CoreloopError as error:
        _warn(f"coreloop: {error!s}")
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
