"""``dartlab-coreloop effect``."""

from datetime import UTC, datetime
from pathlib import Path

import click

from coreloop.base.project.workspace import open_workspace
from coreloop.cli.options import json_option, verbose_option


@click.command()
@click.option("--tool", help="Only the changes of this tool.")
@click.option("--id", "wanted", help="Only this change: a proposal's id, or a commit.")
@verbose_option
@json_option
def command(tool: str | None, wanted: str | None, verbose: bool, as_json: bool) -> None:
    """Show whether changes of descriptions helped.

    Every change of a tool's description in the base branch, a promotion or a human's, is compared with the
    days before it and with tools that did not change. Writes only what can be remade: facts and effects.json.
    """
    from coreloop.cli.show_effect import show_effects
    from coreloop.learn.effect.run import run_effect

    now = datetime.now(UTC)
    effects = run_effect(open_workspace(Path.cwd()), now=now).chosen(tool=tool, id=wanted)
    show_effects(effects, as_json=as_json, is_verbose=verbose or tool is not None or wanted is not None)
