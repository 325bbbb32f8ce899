"""Print what a nightly run proposes, for its workflow.

    python -m coreloop.cli.job_summary FOLDER
    python -m coreloop.cli.job_summary --ids FILE

For a folder: the newest files in its candidates and counterexamples, as Markdown. For a file: the ids of the
candidates that have text, best first.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

from coreloop.errors import CoreloopError, WorkspaceError
from coreloop.proposals.job_summary import job_summary, promotable
from coreloop.streams import outlive_readers


def _newest(folder: Path, kind: str) -> Path:
    paths = sorted((folder / kind).glob(f"*-{kind}.json"))
    if not paths:
        raise WorkspaceError(f"holds no {kind}", path=folder / kind)
    return paths[-1]


def main(arguments: Sequence[str]) -> int:
    """Entry point; returns 2 for a usage error or an unreadable file."""
    try:
        match arguments:
            case ["--ids", file]:
                print("\n".join(promotable(Path(file))))
            case [folder]:
                print(
                    job_summary(*(_newest(Path(folder), kind) for kind in ("candidates", "counterexamples")))
                )
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
