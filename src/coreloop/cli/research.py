"""``dartlab-coreloop research``."""

import difflib
import os
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from coreloop.base.messages import number_of
from coreloop.base.records import encodable
from coreloop.base.text import printable
from coreloop.cli.ask import show_passages
from coreloop.cli.emit import emit, model_error_as_json
from coreloop.cli.groups import SuggestingGroup
from coreloop.cli.open_runs import format_option, project_deps, project_store, run_argument
from coreloop.cli.options import FILE, DurationType, json_option, verbose_option

if TYPE_CHECKING:
    from coreloop.answer.models.contracts import Tier
    from coreloop.answer.research.answer import AgentResponse
    from coreloop.answer.research.research_state import ReadSource
    from coreloop.runs.state import State


class _AskingGroup(SuggestingGroup):
    """Takes what is no subcommand as a question: ``research "why?"`` is ``research ask "why?"``."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        is_question = args and args[0] not in {"-h", "--help"} and not self._is_command(args[0])
        return super().parse_args(ctx, ["ask", *args] if is_question else args)

    def _is_command(self, word: str) -> bool:
        """Whether a word is a command or, as ``lst``, a mistyped one."""
        return bool(difflib.get_close_matches(word, self.commands, n=1, cutoff=0.8))


@click.group(cls=_AskingGroup)
def command() -> None:
    """Answer a question with citations: plan, search, reflect, verify.

    research "QUESTION" is short for research ask "QUESTION". RUN is the id of a research; without it, the
    newest.
    """


@command.command()
@click.argument("question")
@click.option(
    "--tier",
    type=click.Choice(["simple", "standard", "deep"]),
    help="How much work it may take.  [default: what the plan says]",
)
@click.option("--exhaust", is_flag=True, help="Go on until every part is answered or you stop it.")
@click.option("--second-check", is_flag=True, help="Let the model judge each sentence of its answer, too.")
@click.option("--max-iters", type=click.IntRange(1), help="Stop after N iterations.")
@click.option("--max-queries", type=click.IntRange(1), help="Stop after N searches.")
@click.option("--max-sources", type=click.IntRange(1), help="Stop after N sources.")
@click.option(
    "--max-time",
    "max_execution_time_s",
    type=DurationType(),
    help="Stop after 90s or 5m of work, the answer included.",
)
@click.option("--token-budget", type=click.IntRange(1), help="Stop before more than N tokens are spent.")
@click.option(
    "--session",
    metavar="new|last|RUN",
    help="Start anew, or continue a research.  [default: ask on a terminal if one is like it, else new]",
)
@verbose_option
@json_option
def ask(
    question: str,
    *,
    tier: "Tier | None",
    exhaust: bool,
    second_check: bool,
    session: str | None,
    verbose: bool,
    as_json: bool,
    **limits: Any,
) -> None:
    """Research a question, and print the answer with its sources.

    Exit codes: 0 answered, 1 nothing said so, 4 the search was down, 5 the model was unusable.
    """
    from coreloop.answer.research.answer import EXIT_CODES
    from coreloop.answer.research.earlier_researches import read_session
    from coreloop.answer.research.research_state import Request
    from coreloop.answer.research.run import begin_research, continue_research
    from coreloop.answer.research.tiers import LimitOverrides, environment_limits
    from coreloop.cli.choose_session import choose_session
    from coreloop.cli.iteration_block import show_begin, show_progress

    overrides = LimitOverrides(**limits).over(environment_limits(os.environ))
    request = Request(tier=tier, wishes=overrides, second_check=second_check)
    with project_deps() as deps, model_error_as_json(as_json):
        begin = partial(begin_research, question, request, deps, exhaust=exhaust)
        is_asked = sys.stdin.isatty() and not as_json
        run_id = choose_session(deps, question, session, begin=begin, is_asked=is_asked)
        show_begin(read_session(deps.store, run_id))
        try:
            response = continue_research(run_id, deps, show=show_progress)
        except KeyboardInterrupt:
            click.echo("interrupted; the same command with --session last goes on where it was", err=True)
            click.get_current_context().exit(130)
        state = read_session(deps.store, response.run_id)
    emit(response, as_json=as_json, text=partial(show_response, state=state, is_verbose=verbose))
    # a pause is no end: the run goes on where it was
    sys.exit(0 if state.status == "paused" else EXIT_CODES[response.end])


@command.command("list")
@click.option(
    "--limit", type=click.IntRange(1, 10_000), default=20, show_default=True, help="Show the newest N."
)
@json_option
def list_(limit: int, as_json: bool) -> None:
    """List researches, the newest first."""
    from coreloop.answer.research.earlier_researches import sessions_of
    from coreloop.cli.runs_output import row_facts, show_runs

    with project_store() as (_, store):
        rows = sessions_of(store, limit=limit)
    emit(list(map(row_facts, rows)), as_json=as_json, text=lambda _: show_runs(rows))


@command.command()
@run_argument
@click.option(
    "--iteration", type=click.IntRange(1), help="Show the sources of iteration N as they were retrieved."
)
@verbose_option
@json_option
def show(run_id: str | None, iteration: int | None, verbose: bool, as_json: bool) -> None:
    """Show the answer of a research, or what it has found so far."""
    from coreloop.answer.research.answer import respond
    from coreloop.answer.research.earlier_researches import read_session
    from coreloop.answer.research.memory import retrieve
    from coreloop.answer.research.research_state import knowledge_of

    with project_store() as (_, store):
        state = read_session(store, run_id)
    if iteration is not None:
        emit(retrieve(knowledge_of(state), iteration), as_json=as_json, text=show_sources)
        return
    emit(respond(state), as_json=as_json, text=partial(show_response, state=state, is_verbose=verbose))


@command.command()
@run_argument
@format_option
@click.option("--out", type=FILE, required=True, help="A new file, readable only by you.")
@json_option
def export(run_id: str | None, form: str, out: Path, as_json: bool) -> None:
    """Write the report of a research, also while it runs or after a crash."""
    from coreloop.answer.research.earlier_researches import read_session
    from coreloop.answer.research.report import write_report

    with project_store() as (_, store):
        state = read_session(store, run_id)
    write_report(state, form, out)
    emit(
        {"file": encodable(os.fsdecode(out))},
        as_json=as_json,
        text=f"wrote {out}",
        is_compact=True,
    )


def show_response(response: "AgentResponse", state: "State", *, is_verbose: bool = False) -> None:
    """Print the answer of a research in a state, and its sources."""
    from coreloop.answer.research.answer import ending

    show_passages(response, state.question, is_verbose=is_verbose)
    click.echo(_figures(response))
    if note := ending(state):
        click.echo(printable(note))
    if response.reason and state.status != "paused":
        click.echo(printable(response.reason), err=True)


def show_sources(sources: "Sequence[ReadSource]") -> None:
    """Print sources with their texts."""
    for read in sources:
        click.echo(printable(f"[{read.number}] {read.source.location}  {read.source.title}"))
        for line in read.source.text.splitlines():
            click.echo(f"    {printable(line)}")


def _figures(response: "AgentResponse") -> str:
    queries = response.usage.queries
    searches = number_of(queries, "search") if queries == 1 else f"{queries:,} searches"
    return f"{number_of(response.iterations, 'iteration')}, {searches}; run {response.run_id}"
