"""What ``--json`` means, for every command that has it."""

from collections.abc import Callable
from typing import TypeVar

import click
import orjson

_Value = TypeVar("_Value")


def emit(value: _Value, *, as_json: bool, text: Callable[[_Value], object]) -> None:
    """Print a value as indented JSON, or let ``text`` print it for people.

    Dataclasses, days and times are written as orjson does; paths as their text.
    """
    if as_json:
        click.echo(orjson.dumps(value, option=orjson.OPT_INDENT_2, default=str))
    else:
        text(value)
