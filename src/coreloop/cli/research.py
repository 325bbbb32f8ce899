"""``dartlab-coreloop research``."""

import os
import sys
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Final, get_args

import click

from coreloop.answer.models.contracts import Tier
from coreloop.answer.research.answer import EXIT_CODES, AgentResponse, ending
from coreloop.answer.research.earlier_researches import read_session
from coreloop.answer.research.research_state import Request, environment_wishes, knowledge_of
from coreloop.answer.research.run import begin_research, continue_research
from coreloop.base.messages import in_language_of, number_of
from coreloop.base.text import printable
from coreloop.cli.choose_session import choose_session
from coreloop.cli.excerpt import PassageView, place_line
from coreloop.cli.iteration_block import show_begin, show_progress
from coreloop.cli.open_runs import limit_options, project_deps
from coreloop.cli.options import choice_option, int_option, verbose_option
from coreloop.cli.output import Command, Output, for_people, is_json, say
from coreloop.runs.state import State

_WISHES: Final = {
    "max_iterations": "max_iters",
    "max_tokens": "token_budget",
    "deadline": "max_execution_time_s",
}
"""The limits that a request calls by another name."""


@click.command(cls=Command)
@click.argument("question")
@choice_option("--tier", words=get_args(Tier), about="How much work it may take.  [default: as planned]")
@click.option("--exhaust", is_flag=True, help="Go on until every part is answered or you stop it.")
@click.option("--second-check", is_flag=True, help="Let the model judge each sentence of its answer, too.")
@int_option("--max-queries", "Stop after N searches.")
@int_option("--max-sources", "Stop after N sources.")
@limit_options("max_iterations", "max_tokens", "deadline")
@click.option(
    "--run",
    "session",
    metavar="RUN",
    help="A research to continue, or last; or new.  [default: ask, or new]",
)
@verbose_option
def research(
    question: str,
    *,
    tier: Tier | None,
    exhaust: bool,
    second_check: bool,
    session: str | None,
    verbose: bool,
    **limits: float | None,
) -> Output:
    """Answer a question with citations: plan, search, reflect, verify.

    `runs` shows earlier researches and writes their reports. Exit codes: 0 answered, 1 nothing said so, 4 the
    search was down, 5 the model was unusable.

    Example: research "How long is the Han river?" --tier simple
    """
    given = {_WISHES.get(name, name): value for name, value in limits.items() if value is not None}
    wishes = {**environment_wishes(os.environ), **given}
    request = Request(tier=tier, wishes=wishes, second_check=second_check)
    with project_deps() as deps:
        begin = partial(begin_research, question, request, deps, exhaust=exhaust)
        is_asked = sys.stdin.isatty() and not is_json()
        run_id = choose_session(deps, question, session, begin=begin, is_asked=is_asked)
        show_begin(read_session(deps.store, run_id))
        try:
            response = continue_research(run_id, deps, show=show_progress)
        except KeyboardInterrupt:
            say("interrupted; the same command with --run last goes on where it was", err=True)
            click.get_current_context().exit(130)
        state = read_session(deps.store, response.run_id)
    # a pause is no end: the run goes on where it was
    code = 0 if state.status == "paused" else EXIT_CODES[response.end]
    return response_output(response, response, state, is_verbose=verbose, code=code)


def response_output(
    value: object,
    response: AgentResponse,
    state: State,
    *,
    is_verbose: bool,
    code: int = 0,
    before: Iterable[str] = (),
) -> Output:
    """Return the answer of a research in a state, with its sources, as text; ``before`` is shown above it."""
    shown = PassageView(response, state.question, is_verbose=is_verbose)
    tell, iterations = in_language_of(state.question), response.iterations
    done = f"{number_of(iterations, 'iteration', tell)}, {number_of(response.usage.queries, 'search', tell)}"
    reason = response.reason if state.status != "paused" else ""
    text = [
        *before,
        *shown.lines(),
        *_added_lines(state, response),
        tell("{done}; run {id}", done=done, id=response.run_id),
        *filter(None, [printable(ending(state) or "")]),
    ]
    return Output(value, text, for_people([*shown.left_out(), *filter(None, [printable(reason)])]), code)


def _added_lines(state: State, response: AgentResponse) -> Iterator[str]:
    """Yield the findings that stand neither in the answer nor in its passages."""
    shown, known = [response.final_answer, *[part.text for part in response.passages]], knowledge_of(state)
    added = [one for one in known.findings if one.sources and not any(one.text in text for text in shown)]
    yield from [in_language_of(state.question)("also found:")] if added else []
    for finding in added[:3]:
        yield place_line(known.sources[finding.sources[0] - 1].source)
        yield f"  {printable(finding.text)}"
