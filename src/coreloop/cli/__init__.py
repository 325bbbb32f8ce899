"""The command line: one file per command, which reads, decides and prints."""

import os
import sys

from coreloop import __version__
from coreloop.base.extras import missing_extra

__all__ = ["run"]


def run() -> None:
    """Entry point of the commands ``dartlab-coreloop`` and ``coreloop``: see `coreloop.cli.main.run`."""
    try:
        os.getcwd()  # noqa: PTH109 - every command looks for coreloop.yaml from here
    except FileNotFoundError:
        print("dartlab-coreloop: the current folder was removed; change to another one", file=sys.stderr)
        sys.exit(2)
    if sys.argv[1:] == ["--version"]:
        print(f"dartlab-coreloop, version {__version__}")
        return
    try:
        from coreloop.cli.main import run as run_command
    except ModuleNotFoundError as error:
        missing = missing_extra(error)
        if missing is None:
            raise
        print(f"dartlab-coreloop: {missing}", file=sys.stderr)
        sys.exit(2)
    run_command()
