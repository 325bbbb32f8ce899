"""``dartlab-coreloop ask``."""

import sys
from functools import partial

import click

from coreloop.cli.emit import emit, model_error_as_json
from coreloop.cli.open_deps import project_deps
from coreloop.cli.options import json_option, verbose_option


@click.command()
@click.argument("question")
@click.option("--session", default="", metavar="ID", help="The conversation that the question belongs to.")
@click.option("--no-repair", is_flag=True, help="Leave the repair of a failed answer to `jobs work`.")
@verbose_option
@json_option
def command(question: str, *, session: str, no_repair: bool, verbose: bool, as_json: bool) -> None:
    """Answer a question from the project's files, and repair a failed answer.

    New and changed files are read first. If no source says the answer, files that the settings do not name
    are searched, and the question is asked again, at most twice. `research` takes longer and searches wider.

    Exit codes: 0 answered, 1 nothing said so, 4 the search was down, 5 the model was unusable.
    """
    from coreloop.answer.research.ends import EXIT_CODES
    from coreloop.answer.research.run import answer
    from coreloop.cli.show_answer import show_answer, show_attempt

    with project_deps() as deps, model_error_as_json(as_json):
        found = answer(question, deps=deps, session=session, repair=not no_repair, show=show_attempt)
    emit(found, as_json=as_json, text=partial(show_answer, is_verbose=verbose))
    sys.exit(EXIT_CODES[found.end])
