"""What ``--json`` means, for every command that has it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import click
import orjson

from coreloop.base.errors import ModelError

_Value = TypeVar("_Value")


def emit(value: _Value, *, as_json: bool, text: Callable[[_Value], object]) -> None:
    """Print a value as indented JSON, or let ``text`` print it for people.

    Dataclasses, days and times are written as orjson does; paths as their text.
    """
    if as_json:
        click.echo(orjson.dumps(value, option=orjson.OPT_INDENT_2, default=str))
    else:
        text(value)


@contextmanager
def model_error_as_json(as_json: bool) -> Iterator[None]:
    """Print an ErrorResponse if no model can be reached."""
    try:
        yield
    except ModelError as error:
        if as_json:
            import msgspec

            from coreloop.answer.models.ladder import error_response

            click.echo(msgspec.json.encode(error_response(error)))
        raise
