"""``dartlab-coreloop guard``: the commands of `coreloop.guard.__main__`, which needs no click."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import click

from coreloop.cli.groups import SuggestingGroup
from coreloop.cli.options import FILE, FOLDER
from coreloop.guard.__main__ import COMMANDS, OPTIONS, Report, output


@click.group(cls=SuggestingGroup)
def command() -> None:
    """Stop promotions from merging without a human."""


def _show(run: Callable[[dict[str, Any]], Report], **options: Any) -> None:
    report = run(options)
    click.echo(output(report, as_json=options["as_json"]))
    click.get_current_context().exit(report[2])


def _option(name: str) -> click.Parameter:
    """An option as click declares it."""
    given = dict(OPTIONS[name])
    names = [name, *filter(None, [given.pop("dest", None)])]
    given["is_flag"] = given.pop("action", None) == "store_true"
    if given.pop("type", None) is Path:
        given["type"] = FOLDER if name in {"--repo", "--out"} else FILE
    return click.Option(names, **given)


for _name, (_run, _options) in COMMANDS.items():
    _params = [*map(_option, _options)]
    command.add_command(
        click.Command(_name, callback=partial(_show, _run), params=_params, help=_run.__doc__)
    )
