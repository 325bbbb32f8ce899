"""Which research a question continues: what the option says, or what the person answers."""

import click

from coreloop.cli.show_runs import shown_text
from coreloop.research.sessions import like_sessions, named_session, sessions_of
from coreloop.runs.state import TERMINAL
from coreloop.runs.stores.store import Store


def choose_session(store: Store, question: str, option: str | None, *, is_asked: bool) -> str | None:
    """Return the research to continue, or None for a new one.

    Parameters
    ----------
    store : Store
        Of the project.
    question : str
        The new question.
    option : str or None
        ``new``, ``last``, the id of a research, or None.
    is_asked : bool
        Whether a person can be asked.
    """
    if option == "new" or (option is None and not is_asked):
        return None
    if option is not None:
        return named_session(store, option)
    going = [row for row in sessions_of(store) if row.status not in TERMINAL]
    like = like_sessions(question, going)
    if not like:
        return None
    for place, (likeness, row) in enumerate(like, 1):
        click.echo(f"{place}  {likeness}, {row.status}  {shown_text(row.question)}", err=True)
    numbers = [str(place) for place in range(1, len(like) + 1)]
    answer = click.prompt("Continue one, or start new", type=click.Choice([*numbers, "new"]), err=True)
    return None if answer == "new" else like[int(answer) - 1][1].run_id
