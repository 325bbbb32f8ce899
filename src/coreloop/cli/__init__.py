"""The command line: one file per command, each reads, decides and shows."""

from coreloop.cli.main import run

__all__ = ["run"]
