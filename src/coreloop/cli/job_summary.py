"""What a nightly run proposes, for the workflow that runs it.

    python -m coreloop.cli.job_summary FOLDER
    python -m coreloop.cli.job_summary --ids FILE

Of a folder: the newest files in its candidates and counterexamples, as Markdown. Of a file: the ids of the
candidates with text, best first.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

from coreloop.errors import CoreloopError, WorkspaceError
from coreloop.proposals.job_summary import job_summary, promotable
from coreloop.streams import outlive_readers


def newest(folder: Path, kind: str) -> Path:
    """The newest file of a kind in a folder; a WorkspaceError if absent."""
    found = sorted(folder.glob(f"*-{kind}.json"))
    if not found:
        raise WorkspaceError(f"holds no {kind}", path=folder)
    return found[-1]


def summary(folder: Path) -> str:
    """Summarise the newest files in a folder's candidates and counterexamples."""
    return job_summary(*(newest(folder / kind, kind) for kind in ("candidates", "counterexamples")))


def main(arguments: Sequence[str]) -> int:
    """Entry point; 2 is a usage error, or a file that cannot be read."""
    try:
        match arguments:
            case ["--ids", file]:
                print("\n".join(promotable(Path(file))))
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
