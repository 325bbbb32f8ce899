"""``dartlab-coreloop ask``."""

import re
import sys
from functools import partial
from typing import TYPE_CHECKING, Final

import click

from coreloop.base.messages import in_language_of, number_of
from coreloop.base.text import printable
from coreloop.cli.emit import emit, model_error_as_json
from coreloop.cli.excerpt import LINES, dense, excerpt, lines_of, marked_lines
from coreloop.cli.open_runs import project_deps
from coreloop.cli.options import json_option, verbose_option
from coreloop.cli.search import show_sources

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coreloop.answer.research.answer import AgentResponse, AnswerPassage, AnswerSource
    from coreloop.answer.search.source import Source
    from coreloop.base.project.workspace import Workspace
    from coreloop.runs.active_run import Run


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
    from coreloop.answer.research.answer import EXIT_CODES
    from coreloop.answer.research.run import answer

    with project_deps() as deps, model_error_as_json(as_json):
        found = answer(question, deps=deps, session=session, repair=not no_repair, show=show_attempt)
        nearby = [] if as_json else _find_nearby(deps.workspace, question, found)
    emit(
        found, as_json=as_json, text=partial(_show_near, nearby=nearby, question=question, is_verbose=verbose)
    )
    sys.exit(EXIT_CODES[found.end])


_SOURCES: Final = 4  # chosen: the screen has 24 lines
_NEARBY: Final = 4
"""Places that are listed below passages of which none says so, two lines each."""
LINES_NEAR: Final = 8
"""Of the passages above them, so that both fit on a screen."""


def show_attempt(run: "Run") -> None:
    """Print the newest attempt, its signal and what the repair did; nothing for an answer at once."""
    from coreloop.answer.research.research_state import knowledge_of

    state = run.state
    if state.is_terminal or not state.iteration:
        return
    case = knowledge_of(state)
    attempt = case.attempts[-1]
    if not attempt.sentences:
        click.echo(f"attempt {attempt.number}: {case.signals[-1].reason}", err=True)
    for repair in case.repairs:
        for line in repair.jobs if repair.attempt == attempt.number else ():
            click.echo(printable(f"  {line}"), err=True)


def _find_nearby(workspace: "Workspace", question: str, answer: "AgentResponse") -> "list[Source]":
    """What `search` lists for the question, unless sources say the answer."""
    from coreloop.answer.search.index.search_index import search_index
    from coreloop.answer.search.provider import SearchLimits

    if answer.verdict == "says so" or not answer.passages:
        return []
    limits = SearchLimits(max_results=_NEARBY + len(answer.passages))
    return search_index(workspace.index_file, question, limits)


def _show_near(
    answer: "AgentResponse", *, nearby: "Sequence[Source]", question: str, is_verbose: bool
) -> None:
    """Print an answer, and below it what `search` lists and its passages do not show."""
    from coreloop.answer.search.index.snippet import cut_snippet

    show_answer(answer, question, is_verbose=is_verbose, n_lines=LINES_NEAR if nearby else LINES)
    pairs = zip(answer.passages, lines_of(answer.passages, LINES_NEAR), strict=True)
    shown = {(part.location, part.line): _words("\n".join(excerpt(part, share))) for part, share in pairs}
    listed = [
        source
        for source in nearby
        if not _are_seen(
            _words(cut_snippet(source, question).text), shown.get((source.location, source.line))
        )
    ]
    if listed:
        click.echo(in_language_of(question)("also found:"))
        show_sources(listed[:_NEARBY], question)


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold()))


def _are_seen(words: set[str], shown: set[str] | None) -> bool:
    """Whether what is shown of a passage has two thirds of its snippet's words; both are cut somewhere."""
    return shown is not None and 3 * len(words & shown) >= 2 * len(words)


def show_answer(
    answer: "AgentResponse", question: str, *, is_verbose: bool = False, n_lines: int = LINES
) -> None:
    """Print an answer of `ask`, its passages and its sources; passages get so many lines."""
    show_passages(answer, question, is_verbose=is_verbose, n_lines=n_lines)
    click.echo(f"{number_of(answer.repairs, 'repair')}; answer {answer.run_id}")
    if answer.reason:
        click.echo(printable(answer.reason), err=True)


def show_passages(
    answer: "AgentResponse", question: str, *, is_verbose: bool = False, n_lines: int = LINES
) -> None:
    """Print what an answer says, whether sources say so, the passages, and the other sources.

    The verdict is in the language of the question.

    Long passages are cut to the lines around what is marked, so that one screen holds all of it.
    """
    from coreloop.answer.research.verify import NO_EVIDENCE

    if answer.end != "nothing_said_so" or answer.final_answer != NO_EVIDENCE:
        for line in answer.final_answer.splitlines():
            click.echo(printable(line))
        click.echo()
    tell = in_language_of(question)
    closest = tell("; closest:") if answer.passages and answer.verdict == "nothing said so" else ""
    if answer.end != "search_down":
        click.echo(f"{tell(answer.verdict)}{closest}")
    shares = [None] * len(answer.passages) if is_verbose else lines_of(answer.passages, n_lines)
    is_cut = [_show_passage(passage, share) for passage, share in zip(answer.passages, shares, strict=True)]
    shown_ids = {passage.id for passage in answer.passages}
    others = [source for source in answer.sources if source.id not in shown_ids]
    listed = others if is_verbose else others[:_SOURCES]
    for source in listed:
        click.echo(place_line(source))
    left_out = ["the whole passages"] if any(is_cut) else []
    if len(listed) < len(others):
        left_out.append(number_of(len(others) - len(listed), "more source"))
    if left_out:
        click.echo(f"-v shows {', '.join(left_out)}", err=True)


def place_line(source: "AnswerSource") -> str:
    """Return where a source stands: ``[1] guide.md:1  Returns  (2026-04-25)``."""
    line = f":{source.line}" if source.line else ""
    day = f"  ({source.published})" if source.published else ""
    return printable(f"{source.id} {source.location}{line}  {source.title}{day}")


def _show_passage(passage: "AnswerPassage", n_lines: int | None) -> bool:
    """Print a passage, and say whether it was cut to so many lines.

    Its marked sentence is bold on a terminal, and between » and « elsewhere.
    """
    click.echo(place_line(passage))
    lines = marked_lines(passage)
    fits = n_lines is None or len(dense(passage.text)) <= n_lines
    shown = lines if n_lines is None or fits else excerpt(passage, n_lines)
    is_marked = False
    for line in shown:
        is_marked = is_marked or "»" in line
        indented = f"    {printable(line)}".rstrip()
        click.echo(click.style(indented, bold=True) if is_marked else indented)
        is_marked = is_marked and "«" not in line
    return len(shown) < len(lines)
