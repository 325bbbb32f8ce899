"""Tables of before and after: each table is one test, which reports the rows that fail."""

import inspect
from collections.abc import Callable, Iterable, Sequence
from itertools import product
from typing import Any

import pytest
from _pytest.mark.structures import ParameterSet

Label = Callable[[Any], object]
Test = Callable[..., None]
_PENDING = "_rows_of_test"
_SHOWN = 20
"""Failures of a table that are reported: pytest takes a minute to write 500 of them down."""


def each_row(
    names: str | Sequence[str], rows: Iterable[Any], *, ids: Iterable[str] | Label | None = None
) -> Callable[[Test], Test]:
    """Run a test once per row, as `pytest.mark.parametrize` would, but as a single test.

    Collecting and reporting a test costs more than checking a row. For tests whose only arguments are
    columns of the table; two decorators are multiplied. A failure has a note that names its row.
    """
    columns = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    table = [_row(columns, row) for row in rows]
    if ids is not None and not callable(ids):
        table = [(values, label) for (values, _), label in zip(table, ids, strict=True)]
    assert table, "a table without rows checks nothing"

    def decorate(test: Test) -> Test:
        inner, tables = getattr(test, _PENDING, (test, []))
        return _loop(inner, [table, *tables])

    return decorate


def slow_after(fast: int, rows: Iterable[Any]) -> list[Any]:
    """Mark the rows after the first ones slow: the same fact, told again by a journey of its own."""
    table = list(rows)
    assert fast < len(table), "no row is left to be slow"
    return [*table[:fast], *map(_slow, table[fast:])]


def _slow(row: Any) -> ParameterSet:
    if isinstance(row, ParameterSet):
        return pytest.param(*row.values, id=row.id, marks=[*row.marks, pytest.mark.slow])
    return pytest.param(*(row if isinstance(row, tuple) else (row,)), marks=pytest.mark.slow)


def _row(columns: list[str], row: Any) -> tuple[dict[str, Any], str]:
    label = row.id if isinstance(row, ParameterSet) else None
    values = row.values if isinstance(row, ParameterSet) else (row if len(columns) > 1 else (row,))
    named = dict(zip(columns, values, strict=True))
    return named, str(label) if label else ", ".join(f"{name}={_short(named[name])}" for name in columns)


def _short(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= 200 else f"{shown[:200]}…"


def _loop(test: Test, tables: list[list[tuple[dict[str, Any], str]]]) -> Test:
    def every_row() -> None:
        failures: list[Exception | pytest.fail.Exception] = []
        for combination in product(*tables):
            try:
                test(**{name: value for values, _ in combination for name, value in values.items()})
            except (Exception, pytest.fail.Exception) as failure:
                failure.add_note(f"in the row {' / '.join(label for _, label in combination)}")
                failures.append(failure)
        if len(failures) == 1:
            raise failures[0]
        if failures:
            raise BaseExceptionGroup(f"{len(failures)} rows fail", failures[:_SHOWN])

    every_row.__name__ = test.__name__
    every_row.__qualname__ = test.__qualname__
    every_row.__module__ = test.__module__
    every_row.__doc__ = test.__doc__
    every_row.__wrapped__ = test  # type: ignore[attr-defined]  # where pytest looks for the test's line
    every_row.__signature__ = inspect.Signature()  # type: ignore[attr-defined]  # no fixture is asked for
    setattr(every_row, _PENDING, (test, tables))
    return every_row
