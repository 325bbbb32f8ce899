"""``dartlab-coreloop guard``: the commands of `coreloop.guard.__main__`, which needs no click."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import click

from coreloop.cli.options import FILE, FOLDER
from coreloop.cli.output import Command, Group, Output
from coreloop.guard.__main__ import COMMANDS, OPTIONS, Report


@click.group(cls=Group)
def guard() -> None:
    """Stop promotions from merging without a human.

    Example: guard protect
    """


def _output(run: Callable[[dict[str, Any]], Report], **options: Any) -> Output:
    lines, facts, code = run(options)
    return Output(facts, lines, code=code)


def _option(name: str) -> click.Parameter:
    """An option as click declares it."""
    given = dict(OPTIONS[name])
    names = [name, *filter(None, [given.pop("dest", None)])]
    given["is_flag"] = given.pop("action", None) == "store_true"
    if given.pop("type", None) is Path:
        given["type"] = FOLDER if name in {"--repo", "--out"} else FILE
    return click.Option(names, **given)


for _name, (_run, _options) in COMMANDS.items():
    _params = [_option(name) for name in _options if name != "--json"]
    guard.add_command(Command(_name, callback=partial(_output, _run), params=_params, help=_run.__doc__))
