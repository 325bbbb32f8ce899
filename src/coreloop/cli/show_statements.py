"""Output of statements, for ``pattern`` and ``refine``."""

import shutil
from collections.abc import Sequence
from typing import Final

import click

from coreloop.base.text import counted, printable, wrapped
from coreloop.learn.mine.sample import MIN_DAYS
from coreloop.learn.proposals.statement_document import difference_text
from coreloop.learn.proposals.statement_draft import Unproposed
from coreloop.learn.proposals.statements import NearStatement, Statement

_HEADING: Final = f"{'id':<20} {'ok':>9} {'otherwise':>9} {'avoided':>8}  tool"
_INDENT: Final = " " * 4


def show_statements(statements: Sequence[Statement], *, max_shown: int) -> None:
    """Print the first ``max_shown`` statements: the two sides, and failures avoided per 1,000 requests."""
    if statements:
        click.echo(_HEADING)
    columns = shutil.get_terminal_size().columns
    for statement in statements[:max_shown]:
        _show(statement, columns)
    if len(statements) > max_shown:
        click.echo(f"… and {counted(len(statements) - max_shown, 'statement')} more, in the draft")


def show_nearest(missed: Sequence[NearStatement]) -> None:
    """Print the statements that came closest to passing, each with the reason why it failed."""
    columns = shutil.get_terminal_size().columns
    for miss in missed:
        text = f"nearest statement: {miss.tool}: {miss.line.removeprefix('- ')} ({miss.reason})"
        click.echo(wrapped(printable(text), columns, indent="  "))


def show_unproposed(unproposed: Unproposed, *, n_days: int) -> None:
    """Print why there are no statements yet, or why those that were found are not proposed."""
    if 0 < n_days < MIN_DAYS:
        click.echo(f"  no statement yet: two days are needed: {n_days} so far")
    if unproposed.n_idle:
        noun = counted(unproposed.n_idle, "statement")
        click.echo(f"  {noun} not proposed: nothing to avoid, other calls succeed as often")
    if unproposed.n_settled:
        noun = counted(unproposed.n_settled, "statement")
        click.echo(f"  {noun} not proposed: already promoted, open or rejected (known)")
    if unproposed.undefined:
        names = printable(", ".join(unproposed.undefined))
        text = f"not proposed: statements about {names}: no definition, or several"
        remedy = "name one under tools: in coreloop.yaml"
        click.echo(wrapped(f"{text}; {remedy}", shutil.get_terminal_size().columns, indent="  "))


def _show(statement: Statement, columns: int) -> None:
    sides = statement.sides
    otherwise = f"{sides.other_ok}/{sides.other_n}" if sides.other_n else "-"
    click.echo(
        f"{statement.id:<20} {f'{sides.n_ok}/{sides.n}':>9} {otherwise:>9} {statement.avoided:>8.1f}  "
        f"{printable(statement.tool)}"
    )
    click.echo(wrapped(printable(statement.line.removeprefix("- ")), columns, indent=_INDENT))
    click.echo(wrapped(_figures(statement), columns, indent=_INDENT))
    if statement.refused is not None:
        click.echo(f"{_INDENT}no text: {statement.refused}")


def _figures(statement: Statement) -> str:
    """Format the figures that do not fit into the columns."""
    held = statement.held
    last = f"{held.n_ok}/{held.n}" + (f", {held.other_ok}/{held.other_n}" if statement.sides.other_n else "")
    questions = counted(statement.n_questions, "question")
    return f"{difference_text(statement)}; last days {last}; {questions}"
