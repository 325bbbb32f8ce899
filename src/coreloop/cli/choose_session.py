"""Which research a question continues: what the option says, or what the person answers."""

import click

from coreloop.cli.show_runs import shown_text
from coreloop.research.sessions import like_sessions, named_session, read_session, sessions_of
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
        return _continued(store, named_session(store, option), question)
    going = [row for row in sessions_of(store) if row.status not in TERMINAL]
    like = like_sessions(question, going)
    if not like:
        return None
    for place, (likeness, row) in enumerate(like, 1):
        changed = row.updated_at.strftime("%Y-%m-%d %H:%M")
        text = f"{place}  {likeness}, {row.status}, {changed}, {row.run_id}  {shown_text(row.question)}"
        click.echo(text, err=True)
    numbers = [str(place) for place in range(1, len(like) + 1)]
    choice = click.Choice([*numbers, "n", "new"])
    answer = click.prompt("Continue one, or start new", type=choice, default="n", err=True)
    return like[int(answer) - 1][1].run_id if answer in numbers else None


def _continued(store: Store, run_id: str, question: str) -> str:
    """Say which question a research has, since it keeps its own."""
    asked = read_session(store, run_id).question
    is_other = asked != question.strip()
    dropped = "; the question that you gave is not asked, leave out --session for it" if is_other else ""
    click.echo(f"continuing {run_id}: {shown_text(asked)}{dropped}", err=True)
    return run_id
