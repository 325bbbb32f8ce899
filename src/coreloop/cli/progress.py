"""A progress bar on stderr for work that takes more than a second."""

import sys
from threading import Lock, Timer
from typing import TYPE_CHECKING, Final

import click

if TYPE_CHECKING:
    from rich.progress import Progress

_DELAY_S: Final = 1.0  # chosen: what takes less needs no bar


class ProgressBar:
    """A bar that appears on a terminal after one second and is erased at the end."""

    def __init__(self, label: str) -> None:
        self._label = label
        self._done: tuple[int, int | None] = (0, None)
        self._progress: Progress | None = None
        self._ended = not sys.stderr.isatty()
        self._lock = Lock()
        if not self._ended:
            self._timer = Timer(_DELAY_S, self._show)
            self._timer.daemon = True
            self._timer.start()
            click.get_current_context().call_on_close(self.end)

    def update(self, done_bytes: int, total_bytes: int) -> None:
        """Set how many bytes are processed."""
        with self._lock:
            self._done = (done_bytes, total_bytes)
            self._draw()

    def end(self) -> None:
        """Erase the bar if it is shown."""
        with self._lock:
            if self._ended:
                return
            self._ended = True
            self._timer.cancel()
            if self._progress is not None:
                self._progress.stop()

    def _show(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

        columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
        with self._lock:
            if self._ended:
                return
            progress = Progress(*columns, console=Console(stderr=True), transient=True, redirect_stdout=False)
            progress.add_task(self._label, total=None)
            self._progress = progress
            self._draw()
            progress.start()

    def _draw(self) -> None:
        if self._progress is not None:
            done, total = self._done
            self._progress.update(self._progress.task_ids[0], completed=done, total=total)
