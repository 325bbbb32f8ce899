"""What a command is and returns, the one printer, text for people or JSON, and the progress of long work."""

import os
import shutil
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import click

_AS_JSON: Final = "coreloop.as_json"


@dataclass(frozen=True, slots=True)
class Output:
    """What a command returns.

    Attributes
    ----------
    value : object
        For ``--json``: what `orjson` writes; dataclasses by the names of their fields, paths as their text.
        A str and bytes are JSON already.
    text : str, iterable of str, or None
        For people: a text, or its lines. Without it, everyone gets the JSON.
    notes : iterable of str
        On stderr afterwards, also beside JSON; see `for_people`.
    code : int
        The exit code.
    """

    value: object
    text: str | Iterable[str] | None = None
    notes: Iterable[str] = ()
    code: int = 0


def is_json() -> bool:
    """Whether ``--json`` was given."""
    context = click.get_current_context(silent=True)
    return context is not None and context.meta.get(_AS_JSON, False)


def for_people(notes: Iterable[str]) -> Iterable[str]:
    """Return notes that may have text of users, which programs get in JSON alone."""
    return () if is_json() else notes


def show(output: Output) -> None:
    """Print a result and its notes."""
    if output.text is None or is_json():
        click.echo(json_of(output.value))
    else:
        for line in [output.text] if isinstance(output.text, str) else output.text:
            say(line)
    for note in output.notes:
        say(note, err=True)


def say(text: str, *, err: bool = False) -> None:
    """Print a line, wrapped to a terminal unless it is laid out already: in columns, or as several lines."""
    has_width = (sys.stderr if err else sys.stdout).isatty() or (not err and "COLUMNS" in os.environ)
    is_laid_out = "\n" in text or "  " in text.strip()
    click.echo(_folded(text) if has_width and not is_laid_out else text, err=err)


def json_of(value: object) -> str | bytes:
    """Return a value as JSON, see `json_text`: a few plain facts on one line."""
    from coreloop.base.untrusted import json_text

    if isinstance(value, str | bytes):
        return value
    is_flat = isinstance(value, Mapping) and not any(map(_is_nested, value.values()))
    return json_text(value, is_compact=is_flat, default=spelled_path)


def _is_nested(value: object) -> bool:
    return not (value is None or isinstance(value, str | int | float | Path))


def spelled_path(path: object) -> str:
    """Return a path as text, its bytes that are not UTF-8 replaced; of anything else its text."""
    return os.fsencode(path).decode("utf-8", "replace") if isinstance(path, Path) else str(path)


def wrap(line: str) -> str:
    """Make a line printable, and wrap it to the terminal at its own indent."""
    from coreloop.base.text import printable

    return _folded(printable(line))


def _folded(line: str) -> str:
    from coreloop.base.text import text_width, wrapped

    columns, indent = shutil.get_terminal_size().columns, " " * (len(line) - len(line.lstrip()))
    fits = text_width(click.unstyle(line)) <= columns
    return line if fits else wrapped(line, columns, indent=indent)


def hung(lead: str, text: str) -> str:
    """Make a text printable, and wrap it to the terminal beside what leads it, which may be coloured."""
    from coreloop.base.text import text_width

    indent = " " * text_width(click.unstyle(lead))
    return lead + wrap(indent + text).removeprefix(indent)


def cut(line: str) -> str:
    """Make a line printable, and cut it to the terminal."""
    from coreloop.base.text import fitted, printable

    return fitted(printable(line), shutil.get_terminal_size().columns)


def table(empty: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield a table as wide as its cells; the last column is cut to the terminal, and below without room.

    Parameters
    ----------
    empty : str
        The only line if there are no rows.
    columns : sequence of str
        Headings; ``>`` before one aligns its column to the right.
    rows : iterable of sequence of str
        Printable cells.
    """
    from coreloop.base.text import aligned, fitted, padded, text_width

    body = list(rows)
    if not body:
        yield empty
        return
    heads = [column.removeprefix(">") for column in columns]
    widths = [max(map(text_width, cells)) for cells in zip(heads, *body, strict=True)]
    room = shutil.get_terminal_size().columns
    gap = "\n  " if sum(widths[:-1]) + 2 * len(widths) + 20 > room else "  "  # 20 columns say something
    for row in (heads, *body):
        cells = [
            aligned(cell, width) if column.startswith(">") else padded(cell, width)
            for cell, width, column in zip(row, widths, columns, strict=True)
        ]
        lines = f"{'  '.join(cells[:-1])}{gap}{cells[-1]}".split("\n")
        yield "\n".join(fitted(line.rstrip(), room) for line in lines)


class Command(click.Command):
    """A command that takes ``--json`` and returns an `Output`."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.params.append(_JSON)
        for param in (param for param in self.params if param.metavar is None):
            param.metavar = _METAVARS.get(param.type.name)


class Group(click.Group):
    """Commands that take ``--json``; an unknown name is answered by the closest one, or ``--help``."""

    command_class = Command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name, known = args[0], self.list_commands(ctx)
        if name in known or name.startswith("-"):
            return super().resolve_command(ctx, args)
        import difflib

        close = difflib.get_close_matches(name.lower(), known, n=1)
        hint = f"did you mean {close[0]}?" if close else f"{ctx.command_path} --help lists them"
        raise click.UsageError(f"no command {name!r}; {hint}", ctx)


_METAVARS: Final = {"integer": "N", "integer range": "N", "float range": "NUMBER", "directory": "FOLDER"}
"""By a type's name, a word that leaves room for the help beside it."""


def _remember(ctx: click.Context, _: click.Parameter, as_json: bool) -> None:
    ctx.meta[_AS_JSON] = as_json


_JSON: Final = click.Option(
    ["--json", "as_json"],
    is_flag=True,
    expose_value=False,
    callback=_remember,
    help="Print JSON instead of text.",
)


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
        """Set how many bytes are processed; all of them end it."""
        if done_bytes >= total_bytes:
            self.end()
        elif time.monotonic() >= self._next_s and sys.stderr.isatty():
            self._next_s = time.monotonic() + _PERIOD_S
            self._is_shown = True
            click.echo(f"\r{self._label}: {100 * done_bytes // total_bytes}%", nl=False, err=True)

    def end(self) -> None:
        """Erase the line if it is shown."""
        if self._is_shown:
            click.echo("\r\x1b[2K", nl=False, err=True)
        self._is_shown = False
