"""What commands print: a value as text or, for ``--json``, as JSON."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import click

from coreloop.base.errors import ModelError
from coreloop.base.untrusted import json_text
from coreloop.base.validation import fields_of

__all__ = ["emit", "fields_of", "json_of", "model_error_as_json"]

_Value = TypeVar("_Value")


def emit(
    value: _Value, *, as_json: bool, text: str | Callable[[_Value], object], is_compact: bool = False
) -> None:
    """Print a value as JSON, or the text for people.

    Parameters
    ----------
    value : object
        What `orjson` writes: dataclasses by the names of their fields, days, times; paths as their text.
    as_json : bool
        Whether it was asked for.
    text : str or callable
        The text, or what prints it.
    is_compact : bool, optional
        On one line, as the few facts of a change are.
    """
    if as_json:
        click.echo(json_of(value, is_compact=is_compact))
    elif callable(text):
        text(value)
    else:
        click.echo(text)


def json_of(value: object, *, is_compact: bool = False) -> bytes:
    """Return a value as JSON, see `json_text`; bytes of a path that are not UTF-8 are replaced."""
    return json_text(value, is_compact=is_compact, default=_spelled)


def _spelled(value: object) -> str:
    return os.fsencode(value).decode("utf-8", "replace") if isinstance(value, Path) else str(value)


@contextmanager
def model_error_as_json(as_json: bool) -> Iterator[None]:
    """Print an ErrorResponse if no model can be reached."""
    try:
        yield
    except ModelError as error:
        if as_json:
            import msgspec

            from coreloop.answer.models.ladder import error_response

            click.echo(json_of(msgspec.to_builtins(error_response(error)), is_compact=True))
        raise
