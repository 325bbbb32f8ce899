"""Print what a nightly run proposes, for its workflow.

    python -m coreloop.cli.job_summary FOLDER

Prints the newest files in the folder's candidates and counterexamples as Markdown.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

from coreloop.base.errors import CoreloopError, WorkspaceError
from coreloop.base.streams import outlive_readers
from coreloop.learn.proposals.page import job_summary


def newest(folder: Path, kind: str) -> Path:
    """Return the newest file of a kind in a folder; WorkspaceError if absent."""
    paths = sorted(folder.glob(f"*-{kind}.json"))
    if not paths:
        raise WorkspaceError(f"holds no {kind}", path=folder)
    return paths[-1]


def summary(folder: Path) -> str:
    """Summarise the newest files in a folder's candidates and counterexamples."""
    return job_summary(*(newest(folder / kind, kind) for kind in ("candidates", "counterexamples")))


def main(arguments: Sequence[str]) -> int:
    """Entry point; returns 2 for a usage error or an unreadable file."""
    try:
        match arguments:
            case [folder]:
                print(summary(Path(folder)))
            case _:
                print((__doc__ or "").strip(), file=sys.stderr)
                return 2
    except CoreloopError as error:
        print(f"coreloop: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    outlive_readers()
    sys.exit(main(sys.argv[1:]))
