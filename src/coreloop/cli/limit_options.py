"""Options for the limits of a new run."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from coreloop.cli.options import DurationType, UsdType

_Command = TypeVar("_Command", bound=Callable[..., Any])


def limit_options(command: _Command) -> _Command:
    """``--max-iterations``, ``--budget-usd``, ``--max-tokens``, ``--deadline`` and ``--mode``."""
    options = (
        click.option(
            "--max-iterations",
            type=click.IntRange(1),
            default=100,
            show_default=True,
            help="End the run after N iterations.",
        ),
        click.option(
            "--budget-usd",
            type=UsdType(),
            default=10.0,
            show_default=True,
            help="End the run when this is spent.",
        ),
        click.option("--max-tokens", type=click.IntRange(1), help="End the run after N tokens."),
        click.option("--deadline", type=DurationType(), metavar="TIME", help="End the run after 30m or 8h."),
        click.option(
            "--mode",
            type=click.Choice(["bounded", "exhaust"]),
            default="bounded",
            show_default=True,
            help="Whether the model's opinion may end the run (bounded) or not.",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command
