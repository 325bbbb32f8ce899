"""``dartlab-coreloop ask``, ``search``, ``index`` and ``feedback``."""

import re
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from coreloop.base.messages import in_language_of, number_of
from coreloop.base.project.workspace import open_workspace
from coreloop.base.text import printable
from coreloop.base.untrusted import with_untrusted
from coreloop.base.validation import fields_of
from coreloop.cli.excerpt import LINES, dense, excerpt, lines_of, marked_lines
from coreloop.cli.open_runs import project_deps
from coreloop.cli.options import FILE_OR_FOLDER, verbose_option
from coreloop.cli.output import Command, Output, is_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from coreloop.answer.repair.feedback import Notice
    from coreloop.answer.repair.tables import Feedback
    from coreloop.answer.research.answer import AgentResponse, AnswerPassage, AnswerSource
    from coreloop.answer.search.index.run import IndexReport
    from coreloop.answer.search.index.search_index import Snippet
    from coreloop.answer.search.source import Source
    from coreloop.base.project.workspace import Workspace
    from coreloop.runs.active_run import Run


@click.command(cls=Command)
@click.argument("question")
@click.option("--session", default="", metavar="ID", help="The conversation that the question belongs to.")
@click.option("--no-repair", is_flag=True, help="Leave the repair of a failed answer to `jobs work`.")
@verbose_option
def ask(question: str, *, session: str, no_repair: bool, verbose: bool) -> Output:
    """Answer a question from the project's files, and repair a failed answer.

    New and changed files are read first. If no source says the answer, files that the settings do not name
    are searched, and the question is asked again, at most twice. `research` takes longer and searches wider.

    Exit codes: 0 answered, 1 nothing said so, 4 the search was down, 5 the model was unusable.

    Example: ask "What does list_orders return?"
    """
    from coreloop.answer.research.answer import EXIT_CODES
    from coreloop.answer.research.run import answer

    with project_deps() as deps:
        given = answer(question, deps=deps, session=session, repair=not no_repair, show=show_attempt)
        nearby = [] if is_json() else _find_nearby(deps.workspace, question, given)
    shown = partial(_show_near, given, nearby=nearby, question=question, is_verbose=verbose)
    return Output(given, shown, code=EXIT_CODES[given.end])


@click.command(cls=Command)
@click.argument("query")
@click.option("--limit", type=click.IntRange(1, 100), default=10, show_default=True, help="Most results.")
def search(query: str, limit: int) -> Output:
    """Search the project's files, as they are now.

    Example: search "refund window"
    """
    from coreloop.answer.search.index.run import search_files
    from coreloop.answer.search.provider import SearchLimits

    limits = SearchLimits(max_results=limit)
    results = search_files(open_workspace(Path.cwd()), query, limits, now=datetime.now(UTC))
    facts = [_source_facts(source, query) for source in results.sources]
    notes = [results.note] if results.note else []
    return Output(facts, lambda: show_sources(results.sources, query), notes)


@click.command(cls=Command)
@click.argument("paths", nargs=-1, type=FILE_OR_FOLDER)
def index(paths: tuple[Path, ...]) -> Output:
    """Read files for search: Markdown, text, HTML, Python and PDF.

    PATHS are files or folders; without them, those of the setting ``search: paths``, by default the project.
    Run this again after changes: only new, changed and removed files are read.

    Example: index docs src
    """
    from coreloop.answer.search.index.run import index_paths

    workspace = open_workspace(Path.cwd())
    starts = [path.absolute() for path in paths] or workspace.search_paths
    report = index_paths(workspace, starts, now=datetime.now(UTC))
    counts = {kind: report.counts[kind] for kind in _KINDS}
    skipped = [
        {"reason": reason, "files": count, "first": report.first_skipped[reason]}
        for reason, count in report.skipped.most_common()
    ]
    return Output({**counts, "skipped": skipped}, _index_lines(report, counts))


@click.command(cls=Command)
@click.argument("answer_id", metavar="ID")
@click.argument("value", metavar="up|down|0..1")
@click.option("--reason", default="", help="Why, for people; it is never part of a prompt.")
@click.option("--later", is_flag=True, help="Leave another answer to `jobs work`.")
def feedback(answer_id: str, value: str, *, reason: str, later: bool) -> Output:
    """Say whether an answer was good; a bad one is repaired and answered again.

    ID is what `ask` prints at the end, or `last`. The verdict counts as a user's, below those of `judge`.

    Example: feedback last down --reason "the file is out of date"
    """
    from coreloop.answer.repair.feedback import give_feedback, mending_job, newest_answer, wait_for_notice
    from coreloop.answer.repair.jobs import all_handlers
    from coreloop.runs.jobs.work import work_on_jobs
    from coreloop.runs.load import load_run

    with project_deps() as deps:
        answer_id = newest_answer(deps) if answer_id == "last" else answer_id
        given = give_feedback(deps, answer_id, _value(value), reason=reason)
        if given.mended_by and not later:
            work_on_jobs(deps.queue, all_handlers(deps), [mending_job(deps, answer_id).id])
        notice = wait_for_notice(deps, answer_id, 0) if given.mended_by else None
        question = load_run(deps.store, answer_id)[0].state.question if given.mended_by else ""
    facts = {"feedback": given, "notice": notice}
    return Output(facts, lambda: _show_feedback(given, notice, question))


_KINDS: Final = ("added", "changed", "removed", "unchanged")
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
    from coreloop.answer.search.index.search_index import cut_snippet

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


_SPACES: Final = re.compile(r"\s+")
_NOTHING: Final = "nothing found; use other words, or name more files: dartlab-coreloop index PATH"


def show_sources(sources: "Sequence[Source]", query: str) -> None:
    """Print sources with their snippets, best first."""
    from coreloop.answer.search.index.search_index import cut_snippet

    for source in sources:
        title = source.title if source.title != source.location else ""
        day = f"  ({source.published})" if source.published else ""
        click.echo(f"{place(source)}  {printable(title)}{day}".rstrip())
        click.echo(f"  {_marked(cut_snippet(source, query))}")
    if not sources:
        click.echo(_NOTHING, err=True)


def place(source: "Source") -> str:
    """Return ``docs/index.md:12``, or ``report.pdf, page 3``."""
    location = printable(source.location)
    if source.line is None:
        return location
    return f"{location}, page {source.line}" if source.type == "pdf" else f"{location}:{source.line}"


def _marked(snippet: "Snippet") -> str:
    """The snippet on one line; its marks are bold on a terminal."""
    parts, done = [], 0
    for start, end in snippet.marks:
        parts += [
            _one_line(snippet.text[done:start]),
            click.style(_one_line(snippet.text[start:end]), bold=True),
        ]
        done = end
    return "".join([*parts, _one_line(snippet.text[done:])])


def _one_line(text: str) -> str:
    return printable(_SPACES.sub(" ", text))


def _source_facts(source: "Source", query: str) -> dict[str, object]:
    from coreloop.answer.search.index.search_index import cut_snippet

    names = ("title", "location", "line", "type", "published", "start", "text", "hash")
    return with_untrusted(
        {
            **fields_of(source, *names),
            "indexed_at": source.retrieved_at,
            "snippet": cut_snippet(source, query),
        },
        *("title", "text", "snippet"),
        max_chars=len(source.text) + 1,
    )


def _index_lines(report: "IndexReport", counts: dict[str, int]) -> "Iterator[str]":
    yield ", ".join(f"{count:,} {kind}" for kind, count in counts.items())
    for reason, count in report.skipped.most_common():
        first = printable(report.first_skipped[reason])
        yield f"  {number_of(count, 'file')} skipped: {reason}, first {first}"


def _show_feedback(given: "Feedback", notice: "Notice | None", question: str) -> None:
    click.echo(f"{given.kind}: noted for {printable(given.message_id)}")
    if notice:
        click.echo(in_language_of(question)(notice.text))
        if notice.answer and notice.answer.supported:
            click.echo()
            show_answer(notice.answer, question)


def _value(text: str) -> str | float:
    try:
        return float(text)
    except ValueError:
        return text
