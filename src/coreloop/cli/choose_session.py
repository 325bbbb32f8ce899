"""Which research a question continues: what the option says, or what the person answers."""

from collections.abc import Callable, Sequence
from typing import Any, Final

import click

from coreloop.answer.deps import Deps
from coreloop.answer.research.earlier_researches import Like, like_sessions, named_session, read_session
from coreloop.base.messages import in_language_of
from coreloop.base.text import printable
from coreloop.cli.output import say
from coreloop.cli.runs_output import printable_text
from coreloop.runs.stores.store import Store

_CONTINUE: Final = "Continue (Recommended)"
_QUESTION_CHARS: Final = 40


def choose_session(
    deps: Deps, question: str, option: str | None, *, begin: Callable[[], str], is_asked: bool
) -> str:
    """Return the research to work on: an earlier or a new one.

    Parameters
    ----------
    deps : Deps
        Has the researches.
    question : str
        The new question.
    option : str or None
        ``new``, ``last``, the id of a research, or None.
    begin : callable
        Begins a new research; returns its id.
    is_asked : bool
        Whether a person can be asked.
    """
    if option == "new" or (option is None and not is_asked):
        return begin()
    if option is not None:
        return _continued(deps.store, named_session(deps.store, option), question)
    like = like_sessions(question, deps.store)
    return (_ask_person(like) if like else None) or begin()


def _ask_person(like: Sequence[Like]) -> str | None:
    """Return the research that a person wants to continue, or None for a new one."""
    exact = next((one for one in like if one.likeness == "exact"), None)
    if exact is not None:
        say(_found_line(exact), err=True)
    for place, one in enumerate(like, 1):
        say(f"{place}  {_label(one)}  {_figures(one)}", err=True)
        say(f"   {one.likeness}, {one.row.status}, {one.row.run_id}", err=True)
    say(f"n  {in_language_of(like[0].row.question)('Start new')}", err=True)
    numbers = [str(place) for place in range(1, len(like) + 1)]
    choice = click.Choice([*numbers, "n", "new"])
    default = str(like.index(exact) + 1) if exact is not None else "n"
    answer = click.prompt("Continue one, or start new", type=choice, default=default, err=True)
    return like[int(answer) - 1].row.run_id if answer in numbers else None


def _continued(store: Store, run_id: str, question: str) -> str:
    """Say which question a research has, since it keeps its own."""
    asked = read_session(store, run_id).question
    is_other = asked != question.strip()
    dropped = "; the question that you gave is not asked, leave out --run for it" if is_other else ""
    say(resumed_line(run_id, asked), err=True)
    say(f"continuing {run_id}: {printable_text(asked)}{dropped}", err=True)
    return run_id


def begun_line(run_id: str, question: str) -> str:
    """Say that a new run begins, in the language of its question, as all that follows is."""
    return in_language_of(question)("→ new session: {run_id}", run_id=run_id)


def resumed_line(run_id: str, question: str) -> str:
    """Say that an earlier run goes on, in the language of its question."""
    return in_language_of(question)("→ session resumed: {run_id}", run_id=run_id)


def choice_json(found: Sequence[Like], question: str) -> dict[str, Any]:
    """Build the choice in the form of an agent's own question tool, with the command of each answer."""
    tell, is_exact = in_language_of(question), found[0].likeness == "exact"
    similar = tell("{number} earlier sessions are like it: which one?", number=len(found))
    options = [
        {
            "label": tell(_CONTINUE) if is_exact else _label(like),
            "description": f"{_figures(like)} | {like.row.status}",
            "command": f"--continue {like.row.run_id}",
        }
        for like in found
    ]
    new = {"label": tell("Start new"), "description": "", "command": "--new"}
    return {
        "match": found[0].likeness,
        "question": _found_line(found[0]) if is_exact else similar,
        "header": tell("Session"),
        "options": [*options, new],
    }


def _found_line(like: Like) -> str:
    """Say that a run with the same question exists."""
    question = printable(like.row.question)
    return in_language_of(question)(
        "An earlier session asks the same ({iterations} iterations): '{question}'",
        iterations=like.row.iteration,
        question=question,
    )


def _label(like: Like) -> str:
    question = printable(like.row.question)
    short = question if len(question) <= _QUESTION_CHARS else f"{question[:_QUESTION_CHARS]}..."
    offer = _CONTINUE if like.likeness == "exact" else "Continue the earlier session"
    return f"{in_language_of(like.row.question)(offer)}: {short}"


def _figures(like: Like) -> str:
    return in_language_of(like.row.question)(
        "{iterations} iterations | likeness: {score:.0%}", iterations=like.row.iteration, score=like.score
    )
