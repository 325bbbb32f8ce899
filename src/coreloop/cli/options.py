"""Options and types that several commands share."""

import errno
import os
import re
import stat
from collections.abc import Callable, Iterable
from datetime import date, timedelta
from math import isnan
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from coreloop.base.errors import UsageError

NOT_CONFIRMED: Final = "nothing changed; add --confirm to carry it out"
"""Printed by a dry run."""
_UNITS_S: Final = {"d": 86_400, "h": 3600, "m": 60, "s": 1}
_Command = TypeVar("_Command", bound=Callable[..., Any])


class _PathType(click.Path):
    """A regular file, a folder, or either; anything else is refused, since reading a pipe would block."""

    def convert(
        self, value: str | os.PathLike[str], param: click.Parameter | None, ctx: click.Context | None
    ) -> Path:
        path = Path(os.fsdecode(super().convert(value, param, ctx)))
        try:
            mode = path.stat().st_mode
        except OSError as error:
            if error.errno == errno.ELOOP:
                self.fail(f"{str(path)!r} is a link that leads back to itself.", param, ctx)
            return path  # an absent path may be created; the command reports it if it must exist
        if self.file_okay and not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            self.fail(f"{str(path)!r} is not a regular file.", param, ctx)
        if not self.file_okay and not stat.S_ISDIR(mode):
            self.fail(f"{str(path)!r} is not a folder.", param, ctx)
        return path


FILE: Final = _PathType(path_type=Path, dir_okay=False)
FOLDER: Final = _PathType(path_type=Path, file_okay=False)
FILE_OR_FOLDER: Final = _PathType(path_type=Path)
EXISTING: Final = _PathType(path_type=Path, exists=True)


class _NumberType(click.FloatRange):
    """A number in a range; nan, which passes every range check, is refused."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        number: float = super().convert(value, param, ctx)
        if isnan(number):
            self.fail(f"{value} is not in the range {self._describe_range()}.", param, ctx)
        return number


SHARE: Final = _NumberType(0, 1)
USD: Final = _NumberType(0, 1_000_000, min_open=True)


class DayType(click.ParamType["date | timedelta"]):
    """A day, as ``YYYY-MM-DD`` or as a number of days before today (``30d``)."""

    name = "day"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> date | timedelta:
        if re.fullmatch(r"[0-9]{1,5}d", value):
            return timedelta(days=int(value[:-1]))
        try:
            return date.fromisoformat(value)
        except ValueError:
            self.fail(f"{value!r} is not a day; write 2026-04-25 or 30d", param, ctx)


class DurationType(click.ParamType["float"]):
    """Seconds, as ``90``, ``45s``, ``30m``, ``8h``, ``2d`` or ``1h30m``."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        text = f"{value}s" if value.isdecimal() else value
        parts = re.findall(r"([0-9]{1,9})([dhms])", text)
        seconds = sum(int(number) * _UNITS_S[unit] for number, unit in parts)
        if "".join(map("".join, parts)) != text or not seconds:
            self.fail(f"{value!r} is not a duration; write 90s, 30m, 8h or 1h30m", param, ctx)
        return float(seconds)


def days_between(today: date, since: date | timedelta, until: date | timedelta) -> tuple[date, date]:
    """Return the first and the last day of ``--since`` and ``--until``."""
    first, last = (value if isinstance(value, date) else today - value for value in (since, until))
    if first > last:
        raise UsageError(f"--since {first} is after --until {last}; give both, the earlier day first")
    return first, last


def int_option(
    name: str, about: str, *, most: int | None = None, default: int | None = None
) -> Callable[[_Command], _Command]:
    """An option that is a number from 1 on."""
    kind, is_shown = click.IntRange(1, most), default is not None
    return click.option(name, type=kind, default=default, show_default=is_shown, help=about)


def choice_option(
    *names: str, words: Iterable[str], about: str, default: str | None = None
) -> Callable[[_Command], _Command]:
    """An option that is one of several words."""
    kind, is_shown = click.Choice([*map(str, words)]), default is not None
    return click.option(*names, type=kind, default=default, show_default=is_shown, help=about)


def id_option(about: str = "An id in the file.") -> Callable[[_Command], _Command]:
    """The option for one proposal, request or change."""
    return click.option("--id", "wanted", metavar="ID", help=about)


def tool_option(about: str) -> Callable[[_Command], _Command]:
    """The option for a tool, by the name that the model reads."""
    return click.option("--tool", metavar="TOOL", help=about)


def options(*several: Callable[[_Command], _Command]) -> Callable[[_Command], _Command]:
    """Several options as one decorator, in this order."""

    def with_options(command: _Command) -> _Command:
        for option in reversed(several):
            command = option(command)
        return command

    return with_options


class FolderType(click.ParamType["Path"]):
    """A folder, or an address such as ``s3://bucket/ai-ask``."""

    name = "folder"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        if not isinstance(value, str) or "://" not in value:
            return FOLDER.convert(value, param, ctx)
        from coreloop.learn.mine.executors import named_folder

        return named_folder(value)


candidate_option = click.option("--candidate", type=FILE, help="…-candidates.json or …-counterexamples.json.")
verbose_option = click.option("-v", "--verbose", is_flag=True, help="Show also what one screen leaves out.")
confirm_option = click.option("--confirm", is_flag=True, help="Carry it out; without it, nothing changes.")
