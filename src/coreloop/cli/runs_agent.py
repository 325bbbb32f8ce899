"""``dartlab-coreloop runs open|next|plan|read|record|report|confirm``: the commands of an agent."""

import os
import sys
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Final

import click

from coreloop.answer.agent.agent_state import opening_events
from coreloop.answer.agent.plan import PlannedIteration, next_for_agent, order_of, plan_iteration, read_plan
from coreloop.answer.agent.record import Shown, read_source, record_iteration
from coreloop.answer.repair.store import read_rejections
from coreloop.answer.research.answer import markdown_report
from coreloop.answer.research.earlier_researches import like_sessions
from coreloop.answer.search.page import PageReader
from coreloop.base.errors import UsageError
from coreloop.base.files import read_file, write_private
from coreloop.base.project.workspace import Workspace
from coreloop.base.untrusted import untrusted, with_untrusted
from coreloop.base.validation import fields_of
from coreloop.cli.choose_session import begun_line, choice_json, resumed_line
from coreloop.cli.iteration_block import following_lines, iteration_lines, plan_lines
from coreloop.cli.open_runs import (
    limit_options,
    meant_run,
    mode_option,
    project_store,
    run_argument,
    run_option,
    session_id,
    session_option,
)
from coreloop.cli.options import FILE, choice_option
from coreloop.cli.output import Command, Output, say
from coreloop.runs.agent.agent_report import read_report
from coreloop.runs.agent.agent_runs import agree, attach, close_if_over, show_views, take_up
from coreloop.runs.agent.json_input import MAX_BYTES
from coreloop.runs.driver.driven_run import require_outside
from coreloop.runs.folder import INBOX
from coreloop.runs.limits import Mode, limits_of
from coreloop.runs.manage import begin_run, export_run, read_run
from coreloop.runs.person_or_agent import RUN, UNKNOWN, driving_run, require_person, require_terminal
from coreloop.runs.state import AGENT, state_json
from coreloop.runs.stores.store import Store

_MAX_QUESTION_BYTES: Final = 100_000
_DATA: Final = (
    *("question", "sub_questions", "do_not_repeat", "knowledge"),
    *("chosen", "reflexion", "next_actions"),
)
"""What ``runs next`` prints of persons, sources, other runs and the agent itself; the rest is coreloop's."""
file_option = click.option("--file", type=FILE, help="A JSON file.  [default: stdin]")


@click.command("open", cls=Command)
@click.argument("question", required=False)
@click.option("--file", "file", type=FILE, help="A file with the question, word for word.")
@limit_options("max_iterations", "budget_usd", "max_tokens", "deadline")
@mode_option
@session_option
@click.option("--new", "is_new", is_flag=True, help="Open a new run even if one is like it.")
@click.option("--continue", "continued", metavar="RUN", help="Go on with an earlier run.")
def open_(
    question: str | None,
    file: Path | None,
    mode: Mode,
    session: str,
    is_new: bool,
    continued: str | None,
    **limits: Any,
) -> Output:
    """Open a run for an agent that drives itself.

    If an unfinished run asks the same or something near, nothing is opened and the choice is printed as JSON;
    answer it with --continue RUN or --new.

    Example: runs open "How long is the Han river?" --max-iterations 20
    """
    text = _text(question, file)
    with project_store() as (workspace, store):
        likes = () if is_new or continued else like_sessions(text, store, kind=AGENT)
        if likes:
            return Output(choice_json(likes, text))
        if continued:
            run_id = read_run(store, continued).run_id
        else:
            now, first, chosen = datetime.now(UTC), opening_events(workspace.root), limits_of(**limits)
            run_id = begin_run(
                workspace, store, text, kind=AGENT, mode=mode, limits=chosen, first=first, now=now
            )
        attach(store, run_id, session_id(session))
        show_views(workspace, store, read_run(store, run_id))
    _used_up(workspace.root, file)
    say((resumed_line if continued else begun_line)(run_id, text), err=True)
    return Output({"run_id": run_id}, run_id)


@click.command("next", cls=Command)
@run_argument
@session_option
def next_(run_id: str | None, session: str) -> Output:
    """Print as JSON what an agent must know and do next.

    Without RUN, it is about the driver's run within a driver's command, or else about the session's run.

    Example: runs next
    """
    with project_store() as (workspace, store):
        known = _run(workspace, store, run_id, session)
        attach(store, known, session_id(session))
        state = close_if_over(store, known)
        facts = next_for_agent(store, state)
        take_up(workspace, state)
        show_views(workspace, store, state)
    return Output(with_untrusted(facts, *_DATA, max_chars=_MAX_QUESTION_BYTES))


@click.command(cls=Command)
@run_argument
@file_option
def plan(run_id: str | None, file: Path | None) -> Output:
    """Choose the next searches from an agent's candidates.

    The JSON has at least three sub_questions and ten candidates, each with its query and its intent: web,
    academic, technical or counter-evidence. Prints which to execute, and which are duplicates.

    Example: runs plan --file .research/inbox/plan.json
    """
    given = read_plan(_given(file))
    with project_store() as (workspace, store):
        planned = plan_iteration(store, _run(workspace, store, run_id), given)
        show_views(workspace, store, planned.state)
        _used_up(workspace.root, file)
    return Output(plan_facts(planned))


@click.command(cls=Command)
@click.argument("place", metavar="URL|FILE|NUMBER")
@run_option
@click.option("--text", "text_file", type=FILE, help="What your own tools found there.")
@click.option("--query", default="", help="Show the passages that are nearest to it.")
@click.option("--from", "start", type=click.IntRange(0), default=0, help="Show the text from a place on.")
def read(place: str, run_id: str | None, text_file: Path | None, query: str, start: int) -> Output:
    """Store a page or file as a numbered source, and print passages.

    A text that you give counts as your word, unless coreloop can read the place itself. A NUMBER shows a
    stored source again.

    Example: runs read notes/rivers.md --query "length of the Han"
    """
    text = None if text_file is None else read_file(text_file)
    with project_store() as (workspace, store):
        shown = read_source(
            store,
            _run(workspace, store, run_id),
            place,
            root=workspace.root,
            pages=PageReader(),
            text=None if text is None else text.decode("utf-8", "replace"),
            query=query,
            start=start,
        )
        _used_up(workspace.root, text_file)
    return Output(source_facts(shown))


@click.command(cls=Command)
@run_argument
@file_option
def record(run_id: str | None, file: Path | None) -> Output:
    """Check an agent's report of one iteration, and commit it.

    Its findings are checked against the stored sources. Prints what the agent shows, and whether the run goes
    on. An invalid report changes nothing. Without RUN, it is about the driver's run within a driver's
    command, or else about the session's run.

    Example: runs record --file .research/inbox/iteration.json
    """
    report = read_report(_given(file))
    with project_store() as (workspace, store):
        rejections = partial(read_rejections, workspace, os.environ)
        known = _run(workspace, store, run_id)
        recorded = record_iteration(store, known, report, rejections=rejections)
        state = recorded.state
        show_views(workspace, store, state)
        _used_up(workspace.root, file)
    block = iteration_lines(recorded, report.next_actions)
    return Output(state_json(state), [*block, *following_lines(state)])


@click.command(cls=Command)
@run_argument
@choice_option(
    "--format", "form", words=["markdown", "events"], about="Events are for sanitize.", default="markdown"
)
@click.option("--out", type=FILE, help="A new file, readable only by you.  [default: stdout]")
@session_option
def report(run_id: str | None, session: str, form: str, out: Path | None) -> Output:
    """Write the report of a research or of an agent's run.

    Also while it runs, or after a crash. It contains questions: sanitize the events before you share them.

    Example: runs report --out report.md
    """
    with project_store() as (workspace, store):
        meant = _run(workspace, store, run_id, session)
        if form == "events":
            content = b"".join(export_run(store, meant))
        else:
            content = markdown_report(read_run(store, meant)).encode("utf-8", "replace")
    if out is None:
        return Output(content.decode().rstrip("\n"))
    if out.exists():
        raise UsageError(f"{out}: exists; name a new file")
    write_private(out, content)
    return Output({"file": out}, f"wrote {out}")


@click.command(cls=Command)
@click.argument("sub_questions", nargs=-1, required=True)
@run_option
@click.option("--waive", "is_waived", is_flag=True, help="Agree that they fall away instead.")
def confirm(sub_questions: tuple[str, ...], run_id: str | None, is_waived: bool) -> Output:
    """Agree that notes of an agent count as parts of the question.

    Only a person can.

    Example: runs confirm S2 S3
    """
    act = "agree to its own proposal"
    by = require_person(act, os.environ)
    require_terminal(act, os.environ)
    with project_store() as (workspace, store):
        named = read_run(store, meant_run(workspace, store, run_id))
        require_outside(named, "waive a part of" if is_waived else "confirm a part of", os.environ)
        state = agree(store, named.run_id, sub_questions, is_waived=is_waived, by=by)
        show_views(workspace, store, state)
    done = "waived" if is_waived else "confirmed"
    facts = {"run_id": state.run_id, done: list(sub_questions), "status": state.status}
    line = f"{'falls away' if is_waived else 'counted now'}: {' '.join(sub_questions)}"
    return Output(facts, f"{line}; {state.run_id}: {state.status}")


def _run(workspace: Workspace, store: Store, run_id: str | None, session: str = "") -> str:
    """Return the driver's run, beside which its agent has no other, or else as `meant_run` does."""
    own = driving_run(os.environ)
    if own == UNKNOWN:
        raise UsageError(f"the run of this agent cannot be told; leave {RUN} in its environment as it was")
    if own and run_id not in {None, own}:
        raise UsageError(f"this agent works on run {own}; leave out RUN")
    return meant_run(workspace, store, run_id or own or None, session)


def _text(question: str | None, file: Path | None) -> str:
    if (question is None) is (file is None):
        raise UsageError("give the question, or a file with it by --file")
    text = (question or "") if file is None else read_file(file).decode("utf-8", "replace")
    if not text.strip():
        raise UsageError("the question is empty; write what the run shall find out")
    return text.strip()


def _given(file: Path | None) -> bytes:
    """Read what a command was given: a file, or stdin."""
    if file is not None:
        return read_file(file)
    if sys.stdin.isatty():
        raise UsageError("nothing on stdin; name a file: runs record --file iteration.json")
    return sys.stdin.buffer.read(MAX_BYTES + 1)


def _used_up(root: Path, file: Path | None) -> None:
    """Remove a file of the inbox that was recorded: what it says is in the run, and goes with it."""
    if file is not None and file.resolve().is_relative_to((root / INBOX).resolve()):
        file.unlink(missing_ok=True)


def plan_facts(planned: PlannedIteration) -> dict[str, Any]:
    """Build the answer of a plan."""
    state, order = planned.state, order_of(planned.state)
    return {
        "run_id": state.run_id,
        "iteration": state.iteration + 1,
        "execute": [
            {**fields_of(query, "query", "intent", "strategy", "against"), "for": query.part}
            for query in planned.execute
        ],
        "duplicates": [
            {"query": query, "already_searched": similar} for query, similar in planned.duplicates.items()
        ],
        "strategy": list(order.after if order else state.last_strategy),
        "must_change": order is not None,
        "sub_questions": [fields_of(part, "id", "text", "is_note") for part in state.sub_questions],
        "show": list(plan_lines(planned)),
    }


def source_facts(shown: Shown) -> dict[str, Any]:
    """Build the answer of a read source."""
    source = shown.read.source
    return {
        "source": shown.read.number,
        **fields_of(shown, "trust", "note"),
        **untrusted({"title": source.title}),
        **fields_of(source, "location", "published"),
        "characters": len(source.text),
        "passages": [
            {"from": part.start, **untrusted({"text": part.text}, max_chars=len(source.text) + 1)}
            for part in shown.passages
        ],
        "goes_on_at": shown.following,
    }
