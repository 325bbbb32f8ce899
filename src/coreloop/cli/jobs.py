"""``dartlab-coreloop jobs`` and ``repair``: what answers left to do, and what they lack."""

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from threading import Event
from typing import Final

import click
import orjson

from coreloop.answer.repair.actions import SAID
from coreloop.answer.repair.jobs import GateReading, all_handlers, read_gates
from coreloop.answer.repair.store import Gap, Suggestion
from coreloop.base.messages import number_of
from coreloop.base.project.workspace import open_workspace
from coreloop.base.text import printable
from coreloop.base.untrusted import with_untrusted
from coreloop.base.validation import fields_of
from coreloop.cli.open_runs import project_deps
from coreloop.cli.options import int_option
from coreloop.cli.output import Group, Output, for_people, hung, say, table
from coreloop.cli.runs_output import of, printable_text
from coreloop.runs.jobs.queue import STATUSES, Job, JobQueue, Status, forget_expired, open_queue
from coreloop.runs.jobs.work import work as do_jobs

_job_argument = click.argument("job_id", metavar="ID")


@click.group(cls=Group)
def jobs() -> None:
    """Do the jobs that repairs leave behind, and show, retry and cancel jobs.

    Example: jobs show
    """


@jobs.command()
@click.option("--until-idle", is_flag=True, help="Return when no job is due.")
@int_option("--workers", "Jobs that are done at once.", most=64, default=1)
def work(*, until_idle: bool, workers: int) -> Output:
    """Do jobs until Ctrl-C or SIGTERM.

    The jobs under way end first.

    Example: jobs work --until-idle
    """
    with project_deps() as deps, _stopped_by_signals() as stop:
        forget_expired(deps.workspace, deps.queue, now=datetime.now(UTC))
        handlers = all_handlers(deps)
        report = do_jobs(
            deps.queue, handlers, threads=workers, stop=stop, until_idle=until_idle, show=show_outcome
        )
    lost = f", {report.lost:,} done by another worker meanwhile" if report.lost else ""
    return Output(report, f"{report.done:,} done, {report.failed:,} failed{lost}")


@jobs.command()
@click.argument("job_id", metavar="[ID]", required=False)
@click.option("--status", type=click.Choice(STATUSES), help="Only jobs of one status.")
@int_option("--limit", "Show the newest N.", most=10_000, default=20)
def show(job_id: str | None, status: Status | None, limit: int) -> Output:
    """List jobs, the newest first.

    With ID, shows what that job is about, its attempts, its result or error.

    Example: jobs show --status dead
    """
    with open_queue(open_workspace(Path.cwd()), environ=os.environ) as queue:
        if job_id is not None:
            job = queue.get(job_id)
            return Output(with_untrusted(job, "error", "result"), _job_lines(job))
        listed = queue.jobs(status=status, limit=limit)
    facts = [with_untrusted(job, "error", "result") for job in listed]
    columns = ("job", "status", ">attempts", "created (UTC)", "name", "about")
    return Output(facts, table("no jobs", columns, map(_cells, listed)))


@jobs.command()
@_job_argument
def retry(job_id: str) -> Output:
    """Queue a dead or cancelled job again.

    Example: jobs retry 01JQZ2T9V3M8K4XWB6C5D7E8F9
    """
    return _tell(lambda queue: queue.retry(job_id))


@jobs.command()
@_job_argument
def cancel(job_id: str) -> Output:
    """Cancel a job that waits. One that is being done cannot be cancelled.

    Example: jobs cancel 01JQZ2T9V3M8K4XWB6C5D7E8F9
    """
    return _tell(lambda queue: queue.cancel(job_id))


def _tell(change: Callable[[JobQueue], Job]) -> Output:
    with open_queue(open_workspace(Path.cwd()), environ=os.environ) as queue:
        job = change(queue)
    return Output(fields_of(job, "id", "name", "status"), _status_line(job))


@contextmanager
def _stopped_by_signals() -> Iterator[Event]:
    """Give an event that Ctrl-C or SIGTERM sets; the same signal again acts as usual."""
    stop = Event()
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def set_stop(number: int, _: object) -> None:
        stop.set()
        signal.signal(number, before[signal.Signals(number)])

    for number in before:
        signal.signal(number, set_stop)
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _cells(job: Job) -> tuple[str, ...]:
    attempts, created = of(f"{job.attempts}", f"{job.max_attempts}"), f"{job.created_at:%Y-%m-%d %H:%M}"
    name = printable(job.name).replace(".", " ")
    return job.id, job.status, attempts, created, name, _text(job.error or job.payload)


def _job_lines(job: Job) -> Iterator[str]:
    yield _status_line(job)
    rows = (
        ("about", _text(job.payload)),
        ("attempts", of(f"{job.attempts}", f"{job.max_attempts}")),
        ("created", f"{job.created_at:%Y-%m-%d %H:%M}"),
        ("due", f"{job.run_at:%Y-%m-%d %H:%M}" if job.status == "queued" else ""),
        ("finished", f"{job.finished_at:%Y-%m-%d %H:%M}" if job.finished_at else ""),
        ("error", _text(job.error)),
        ("result", "" if job.result is None else _text(job.result)),
    )
    yield from (f"{name:<9} {value}" for name, value in rows if value)


def _status_line(job: Job) -> str:
    return f"{job.id}  {printable(job.name).replace('.', ' ')}  {job.status}"


def show_outcome(job: Job) -> None:
    """Print on stderr how an attempt ended."""
    error = f": {_text(job.error)}" if job.error else ""
    say(f"{_status_line(job)}{error}", err=True)


def _text(value: object) -> str:
    """Return a text, or a value as JSON, as one printable line."""
    text = value if isinstance(value, str) else orjson.dumps(value).decode()
    return printable_text(text)


_GATES: Final = {"coverage": "files indexed and fresh", "io": "public functions documented and indexed"}


@click.group(cls=Group)
def repair() -> None:
    """Show what answers lack, and decide what only a person may apply.

    Example: repair show
    """


@repair.command()
def gates() -> Output:
    """Measure how much is indexed and documented.

    A fall since the last day becomes jobs. Run it once a day, for example by cron.

    Example: repair gates
    """
    with project_deps() as deps:
        readings = read_gates(deps, now=datetime.now(UTC))
    return Output(readings, _gate_lines(readings))


@repair.command("show")
@click.option("--close", "gap_id", metavar="ID", help="Close a gap, after you wrote what it lacks.")
@int_option("--limit", "Show the newest N gaps.", most=10_000, default=10)
def show_repair(gap_id: str | None, limit: int) -> Output:
    """List gaps, and the links that repairs suggest.

    A gap is a question that repairs could not answer. The gaps that came back most often are first. A
    suggestion links code and schemas.

    Example: repair show
    """
    with project_deps() as deps:
        if gap_id is not None:
            deps.tables.close_gaps(gap_id=gap_id, by="person", now=datetime.now(UTC))
            left = number_of(len(deps.tables.gaps()), "gap")
            return Output({"id": gap_id, "status": "closed"}, f"{gap_id}  closed; {left} left")
        gaps = deps.tables.gaps()
        reasons = {gap.topic: deps.tables.reasons(gap.topic) for gap in gaps}
        suggestions = deps.tables.suggestions(status="pending")
    listed = [{**asdict(gap), "rejected_because": reasons[gap.topic]} for gap in gaps]
    facts = {
        "gaps": [with_untrusted(gap, "topic", "rejected_because") for gap in listed],
        "suggestions": [_decided(one).value for one in suggestions],
    }
    newest = sorted(gaps, key=lambda gap: gap.id)[-limit:]
    lines = [line for gap in gaps if gap in newest for line in _gap_lines(gap, reasons[gap.topic])]
    lines += [f"and {len(gaps) - limit} more: --limit {len(gaps)}"] if limit < len(gaps) else []
    notes = for_people(["close a gap: dartlab-coreloop repair show --close ID"] if gaps else [])
    links = [*map(_line, suggestions)] or ["no suggestions"]
    return Output(facts, [*(lines or ["no gaps"]), *links], notes)


@repair.command()
@click.argument("suggestion_id", metavar="ID")
def apply(suggestion_id: str) -> Output:
    """Apply a suggestion: answers use its link from now on. No file changes.

    Example: repair apply s-1
    """
    with project_deps() as deps:
        return _decided(deps.tables.decide(suggestion_id, "applied", now=datetime.now(UTC)))


@repair.command()
@click.argument("suggestion_id", metavar="ID")
def reject(suggestion_id: str) -> Output:
    """Reject a suggestion; it is not made again.

    Example: repair reject s-1
    """
    with project_deps() as deps:
        return _decided(deps.tables.decide(suggestion_id, "rejected", now=datetime.now(UTC)))


def _decided(suggestion: Suggestion) -> Output:
    return Output(with_untrusted(suggestion, "target", "details"), _line(suggestion))


def _gate_lines(readings: Sequence[GateReading]) -> Iterator[str]:
    """Yield each gate, what it was, and the files that lack most."""
    for reading in readings:
        now, before = reading.now, reading.before
        was = f", {before.share:.1%} on {before.day}" if before else ""
        yield f"{now.gate:<9} {now.share:6.1%}  {now.good:,} of {now.total:,} {_GATES[now.gate]}{was}"
        for location, lacking in reading.worst:
            yield printable(f"    {lacking:>4} {location}")
        if reading.signal:
            yield f"  {SAID[reading.signal]}: its jobs are queued; do them: dartlab-coreloop jobs work"


def _gap_lines(gap: Gap, reasons: Sequence[str]) -> Iterator[str]:
    """Yield a gap, and below it why persons rejected the answers."""
    place = f"  ({gap.symbol or gap.file})" if gap.symbol or gap.file else ""
    yield hung(f"{gap.id}  {gap.seen}x  ", f"{SAID[gap.reason]}: {gap.topic}{place}")
    yield from (hung("    rejected: ", reason) for reason in reasons)


def _line(suggestion: Suggestion) -> str:
    details = suggestion.details
    link = f"{details.get('code_symbol')} -> {details.get('schema_ref')}"
    return hung(f"{suggestion.id}  {suggestion.status}  ", f"{link} ({details.get('reason', '')})")
