"""``dartlab-coreloop ask``."""

import click

from coreloop.cli.open_repair import project_repair
from coreloop.cli.options import json_option


@click.command()
@click.argument("question")
@click.option("--session", default="", metavar="ID", help="The conversation that the question belongs to.")
@click.option("--no-repair", is_flag=True, help="Leave the repair of a failed answer to `jobs work`.")
@json_option
def command(question: str, *, session: str, no_repair: bool, as_json: bool) -> None:
    """Answer a question from the project's files, and repair a failed answer.

    If no source says the answer, the files that the index lacks are found and indexed, and the question is
    asked again, at most twice. `research` takes longer and searches wider.
    """
    from coreloop.answer.repair.run import answer
    from coreloop.cli.show_answer import show_answer, show_attempt

    with project_repair() as desk:
        found = answer(question, desk=desk, session=session, repair=not no_repair, show=show_attempt)
    show_answer(found, as_json=as_json)
