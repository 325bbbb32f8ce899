"""``dartlab-coreloop ask``, ``search``, ``index`` and ``feedback``."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from coreloop.base.messages import in_language_of, number_of
from coreloop.base.project.workspace import Workspace, open_workspace
from coreloop.base.text import printable
from coreloop.base.untrusted import with_untrusted
from coreloop.base.validation import fields_of
from coreloop.cli.excerpt import LINES, PassageView, place_line
from coreloop.cli.options import FILE_OR_FOLDER, verbose_option
from coreloop.cli.output import Command, Output, for_people, is_json, say

if TYPE_CHECKING:
    from coreloop.answer.repair.feedback import Notice
    from coreloop.answer.repair.store import Feedback
    from coreloop.answer.research.answer import AgentResponse
    from coreloop.answer.search.provider import Source
    from coreloop.runs.active_run import Run


@click.command(cls=Command)
@click.argument("question")
@click.option("--session", default="", metavar="ID", help="The conversation that the question follows up.")
@click.option("--no-repair", is_flag=True, help="Leave the repair of a failed answer to `jobs work`.")
@verbose_option
def ask(question: str, *, session: str, no_repair: bool, verbose: bool) -> Output:
    """Answer from the project's files; beside it: index, search, repair.

    New and changed files are read first. A failed answer is repaired: if no source says it, files that the
    settings do not name are searched, and the question is asked again, at most twice; `repair show` lists
    what is still lacking, and `feedback` says that an answer was good or bad. `research` searches wider;
    `search` only lists passages, and `index` reads more files.

    Exit codes: 0 answered, 1 nothing said so, 4 the search was down, 5 the model was unusable.

    Example: ask "What does list_orders return?"
    """
    from coreloop.answer.research.answer import EXIT_CODES
    from coreloop.answer.research.run import answer
    from coreloop.cli.open_runs import project_deps

    with project_deps() as deps:
        given = answer(question, deps=deps, session=session, repair=not no_repair, show=show_attempt)
        nearby = [] if is_json() else _find_nearby(deps.workspace, question, given)
    shown = PassageView(given, question, is_verbose=verbose, n_lines=LINES_NEAR if nearby else LINES)
    also = [in_language_of(question)("also found:"), *_source_lines(nearby, question)] if nearby else []
    notes = [*shown.left_out(), *([given.reason] if given.reason else [])]
    if given.signals and given.end == "nothing_said_so":
        notes.append(in_language_of(question)("a gap is noted: dartlab-coreloop repair show"))
    lines = [*shown.answer_lines(), *also]
    return Output(given, lines, for_people(map(printable, notes)), EXIT_CODES[given.end])


@click.command(cls=Command)
@click.argument("query")
@click.option("--limit", type=click.IntRange(1, 100), default=10, show_default=True, help="Most results.")
def search(query: str, limit: int) -> Output:
    """List passages of the project's files, as they are now.

    Example: search "refund window"
    """
    from coreloop.answer.search.index.search_index import search_files

    sources, note = search_files(open_workspace(Path.cwd()), query, limit, now=datetime.now(UTC))
    facts = [_source_facts(source, query) for source in sources]
    notes = [note] if note else []
    nothing = "nothing found; use other words, or name more files: dartlab-coreloop index PATH"
    notes += for_people([] if sources else [nothing])
    return Output(facts, _source_lines(sources, query), notes)


@click.command(cls=Command)
@click.argument("paths", metavar="[PATH]…", nargs=-1, type=FILE_OR_FOLDER)
def index(paths: tuple[Path, ...]) -> Output:
    """Read documents, tables, configuration and code for search.

    PATH is a file or a folder; without it, those of the setting ``search: paths``, by default the project.
    Then what the setting does not name leaves the index. Run it again after changes: only those are read.

    Example: index docs src
    """
    from coreloop.answer.search.index.run import index_paths

    workspace = open_workspace(Path.cwd())
    report = index_paths(workspace, [path.absolute() for path in paths] or None, now=datetime.now(UTC))
    counts = {kind: report.counts[kind] for kind in ("added", "changed", "removed", "unchanged")}
    lines, skipped = [", ".join(f"{count:,} {kind}" for kind, count in counts.items())], []
    for reason, places in sorted(report.skipped.items(), key=lambda one: -len(one[1])):
        lines.append(f"  {number_of(len(places), 'file')} skipped: {reason}, first {printable(places[0])}")
        skipped.append({"reason": reason, "files": len(places), "first": places[0]})
    return Output({**counts, "skipped": skipped}, lines)


@click.command(cls=Command)
@click.argument("run_id", metavar="RUN")
@click.argument("value", metavar="up|down|0..1")
@click.option("--reason", default="", help="Why, for people; it is never part of a prompt.")
@click.option("--later", is_flag=True, help="Leave another answer to `jobs work`.")
def feedback(run_id: str, value: str, *, reason: str, later: bool) -> Output:
    """Say whether an answer was good; a bad one is answered again.

    RUN is the id that `ask` prints last, or `last`. The verdict counts as a user's, below those of `judge`.

    Example: feedback last down --reason "the file is out of date"
    """
    from coreloop.answer.repair.feedback import give_feedback, mending_job, newest_answer, read_notice
    from coreloop.answer.repair.jobs import all_handlers
    from coreloop.cli.open_runs import project_deps
    from coreloop.runs.jobs.work import work_on_jobs

    with project_deps() as deps:
        run_id = newest_answer(deps) if run_id == "last" else run_id
        given = give_feedback(deps, run_id, value, reason=reason)
        if given.mended_by and not later:
            work_on_jobs(deps.queue, all_handlers(deps), [mending_job(deps, run_id, given.mended_by).id])
        notice = read_notice(deps, run_id) if given.mended_by else None
    return Output({"feedback": given, "notice": notice}, _feedback_lines(given, notice))


_NEARBY: Final = 2
"""Places that are listed below passages of which none says so, two lines each."""
LINES_NEAR: Final = 14
"""Of the passages above them, so that both fit on a screen."""


def show_attempt(run: "Run") -> None:
    """Print the newest attempt, its signal and what the repair did; nothing for an answer at once."""
    from coreloop.answer.research.research_state import knowledge_of

    state = run.state
    if state.is_terminal or not state.iteration:
        return
    case = knowledge_of(state)
    attempt = case.attempts[-1]
    if case.repairs and not attempt.sentences:
        say(in_language_of(state.question)("no source says so yet"), err=True)
    done = [line for repair in case.repairs if repair.attempt == attempt.number for line in repair.jobs]
    files = dict.fromkeys(job.partition(" ")[2].removesuffix(": done") for job in done)
    for line in done if is_json() else files:
        say(printable(f"  {line}"), err=True)


def _find_nearby(workspace: Workspace, question: str, answer: "AgentResponse") -> "list[Source]":
    """What `search` lists for the question in other files, unless sources say the answer."""
    from coreloop.answer.search.index.search_index import search_index

    if answer.verdict == "says so" or not answer.passages or answer.passages[0].end:
        return []
    seen = {passage.location for passage in answer.passages}
    found = search_index(workspace.index_file, question, _NEARBY + len(answer.passages))
    return [source for source in found if source.location not in seen][:_NEARBY]


def _source_lines(sources: "Sequence[Source]", query: str) -> Iterator[str]:
    """Yield sources with their snippets, best first."""
    from coreloop.answer.search.index.search_index import cut_snippet

    for source in sources:
        yield place_line(source)
        yield f"  {printable(' '.join(cut_snippet(source, query).split()))}"


def _source_facts(source: "Source", query: str) -> dict[str, object]:
    from coreloop.answer.search.index.search_index import cut_snippet

    names = ("title", "location", "line", "type", "published", "start", "text", "hash")
    extra = {"indexed_at": source.retrieved_at, "snippet": cut_snippet(source, query)}
    most = len(source.text) + 1
    return with_untrusted(fields_of(source, *names) | extra, "title", "text", "snippet", max_chars=most)


def _feedback_lines(given: "Feedback", notice: "Notice | None") -> Iterator[str]:
    yield f"{given.kind}: noted for {printable(given.message_id)}"
    if notice:
        yield notice.text
        if notice.answer and notice.answer.supported:
            yield from ("", *PassageView(notice.answer, notice.answer.untrusted_question).answer_lines())
