"""The command line: one file per command, which reads, decides and prints."""

import sys

from coreloop.extras import missing_extra

__all__ = ["run"]


def run() -> None:
    """Entry point of the commands ``dartlab-coreloop`` and ``coreloop``: see `coreloop.cli.main.run`."""
    try:
        from coreloop.cli.main import run as run_command
    except ModuleNotFoundError as error:
        missing = missing_extra(error)
        if missing is None:
            raise
        print(f"dartlab-coreloop: {missing}", file=sys.stderr)
        sys.exit(2)
    run_command()
