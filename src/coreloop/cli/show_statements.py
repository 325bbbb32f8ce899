"""Output of statements, for ``refine``."""

import shutil
from collections.abc import Sequence
from typing import Final

import click

from coreloop.base.messages import number_of, say
from coreloop.base.text import printable, wrapped
from coreloop.cli.show import show_more
from coreloop.learn.proposals.statement_document import cost_text, difference_text, sides_text
from coreloop.learn.proposals.statement_draft import Unproposed
from coreloop.learn.proposals.statements import NearStatement, Statement
from coreloop.learn.statements.search import MIN_DAYS

_INDENT: Final = " " * 4


def show_statements(statements: Sequence[Statement], *, max_shown: int, is_verbose: bool) -> None:
    """Print the first statements: the line and the two sides; verbose, also what deviating calls cost."""
    columns = shutil.get_terminal_size().columns
    for statement in statements[:max_shown]:
        _show(statement, columns, is_verbose=is_verbose)
    if is_verbose:
        show_more(len(statements), "statement")


def show_nearest(missed: Sequence[NearStatement]) -> None:
    """Print the statements that came closest to passing, each with the reason why it failed."""
    columns = shutil.get_terminal_size().columns
    for miss in missed:
        text = say(
            "nearest statement: {tool}: {removeprefix} ({reason})",
            tool=miss.tool,
            removeprefix=miss.line.removeprefix("- "),
            reason=say(miss.reason),
        )
        click.echo(wrapped(printable(text), columns, indent="  "))


def show_unproposed(unproposed: Unproposed, *, n_days: int, max_shown: int) -> None:
    """Print why there are no statements yet, or why those that were found are not proposed."""
    columns = shutil.get_terminal_size().columns
    if 0 < n_days < MIN_DAYS:
        click.echo(say("  no statement yet: all records are of one day, and two are needed"))
    if unproposed.n_settled:
        noun = say(number_of(unproposed.n_settled, "statement"))
        click.echo(say("  {noun} not proposed: already promoted, open or rejected (known)", noun=noun))
    if unproposed.undefined:
        names = printable(", ".join(unproposed.undefined))
        text = say("not proposed: statements about {names}: no definition, or several", names=names)
        remedy = say("name one under tools: in coreloop.yaml")
        click.echo(wrapped(f"{text}; {remedy}", columns, indent="  "))
        for one in unproposed.withheld[:max_shown]:
            line = f"{one.tool}: {one.line.removeprefix('- ')} ({say(one.sides.text)})"
            click.echo(wrapped(printable(line), columns, indent=_INDENT))


def _show(statement: Statement, columns: int, *, is_verbose: bool) -> None:
    click.echo(f"{statement.id:<20} {printable(statement.tool)}")
    texts = [statement.line.removeprefix("- "), say(sides_text(statement, statement.sides))]
    if is_verbose:
        texts.append(f"{say(cost_text(statement))}; {say(difference_text(statement))}")
    for text in texts:
        click.echo(wrapped(printable(text), columns, indent=_INDENT))
    if statement.refused is not None:
        click.echo(say("{indent}no text: {refused}", indent=_INDENT, refused=say(statement.refused)))
