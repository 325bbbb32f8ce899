"""The progress of work that takes more than a second, as a line on stderr."""

import sys
import time
from typing import Final

import click

_DELAY_S: Final = 1.0  # chosen: what takes less needs no line
_PERIOD_S: Final = 0.1  # chosen: often enough to look alive


class ProgressBar:
    """A percentage that appears on a terminal after one second and is erased at the end.

    Parameters
    ----------
    label : str
        The activity: ``reading records``.
    """

    def __init__(self, label: str) -> None:
        self._label = label
        self._next_s = time.monotonic() + _DELAY_S
        self._is_shown = False
        click.get_current_context().call_on_close(self.end)

    def update(self, done_bytes: int, total_bytes: int) -> None:
        """Set how many bytes are processed."""
        if time.monotonic() < self._next_s or not sys.stderr.isatty():
            return
        self._next_s = time.monotonic() + _PERIOD_S
        self._is_shown = True
        click.echo(f"\r{self._label}: {100 * done_bytes // max(total_bytes, 1)}%", nl=False, err=True)

    def end(self) -> None:
        """Erase the line if it is shown."""
        if self._is_shown:
            click.echo("\r\x1b[2K", nl=False, err=True)
        self._is_shown = False
