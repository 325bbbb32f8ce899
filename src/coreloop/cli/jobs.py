"""``dartlab-coreloop jobs``."""

import os
import shutil
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

import click
import orjson

from coreloop.base.project.workspace import open_workspace
from coreloop.base.text import fitted, padded, printable
from coreloop.base.untrusted import with_untrusted
from coreloop.cli.emit import emit
from coreloop.cli.groups import SuggestingGroup
from coreloop.cli.options import json_option
from coreloop.cli.runs_output import of
from coreloop.runs.jobs.job import STATUSES, Job, Status

if TYPE_CHECKING:
    from coreloop.runs.jobs.queue import JobQueue
    from coreloop.runs.jobs.work import WorkReport


_job_argument = click.argument("job_id", metavar="ID")


@click.group(cls=SuggestingGroup)
def command() -> None:
    """Do the jobs that repairs leave behind, and show, retry and cancel jobs."""


@command.command()
@click.option("--once", is_flag=True, help="Return after one job of each worker.")
@click.option("--until-idle", is_flag=True, help="Return when no job is due.")
@click.option(
    "--workers", type=click.IntRange(1, 64), default=1, show_default=True, help="Jobs that are done at once."
)
@json_option
def work(*, once: bool, until_idle: bool, workers: int, as_json: bool) -> None:
    """Do jobs until Ctrl-C or SIGTERM, which let the jobs under way end first.

    Several processes may work at once. What a killed one was doing is done again half a minute later. A
    worker that goes on measures the gates once a day (UTC), see repair gates.
    """
    from coreloop.answer.repair.jobs import all_handlers, plan_gates
    from coreloop.cli.open_runs import project_deps
    from coreloop.runs.jobs.queue import forget_expired
    from coreloop.runs.jobs.work import work_in_threads

    with project_deps() as deps, _stopped_by_signals() as stop:
        forget_expired(deps.workspace, deps.queue, now=datetime.now(UTC))
        if not (once or until_idle):
            plan_gates(deps, now=datetime.now(UTC))
        report = work_in_threads(
            deps.queue,
            all_handlers(deps),
            threads=workers,
            stop=stop,
            until_idle=until_idle or once,
            limit=1 if once else None,
            show=show_outcome,
        )
    emit(report, as_json=as_json, text=show_report)


@command.command("list")
@click.option("--status", type=click.Choice(STATUSES), help="Show the jobs of one status.")
@click.option(
    "--limit", type=click.IntRange(1, 10_000), default=20, show_default=True, help="Show the newest N jobs."
)
@json_option
def list_(status: Status | None, limit: int, as_json: bool) -> None:
    """List jobs, the newest first."""
    with _project_queue() as queue:
        listed = queue.jobs(status=status, limit=limit)
    emit([_job_facts(job) for job in listed], as_json=as_json, text=lambda _: show_jobs(listed))


@command.command()
@_job_argument
@json_option
def show(job_id: str, as_json: bool) -> None:
    """Show a job: what it is about, its attempts, its result or error."""
    with _project_queue() as queue:
        job = queue.get(job_id)
    emit(_job_facts(job), as_json=as_json, text=lambda _: show_job(job))


@command.command()
@_job_argument
@json_option
def retry(job_id: str, as_json: bool) -> None:
    """Queue a dead or cancelled job again."""
    _tell(lambda queue: queue.retry(job_id), as_json=as_json)


@command.command()
@_job_argument
@json_option
def cancel(job_id: str, as_json: bool) -> None:
    """Cancel a job that waits. One that is being done cannot be cancelled."""
    _tell(lambda queue: queue.cancel(job_id), as_json=as_json)


def _job_facts(job: "Job") -> dict[str, object]:
    return with_untrusted(job, "error", "result")


def _tell(change: "Callable[[JobQueue], Job]", *, as_json: bool) -> None:
    with _project_queue() as queue:
        job = change(queue)
    facts = {"id": job.id, "name": job.name, "status": job.status}
    emit(facts, as_json=as_json, text=lambda _: show_status(job))


@contextmanager
def _project_queue() -> "Iterator[JobQueue]":
    """Open the queue of the project in the current folder."""
    from coreloop.runs.jobs.queue import open_queue

    with open_queue(open_workspace(Path.cwd()), environ=os.environ) as queue:
        yield queue


@contextmanager
def _stopped_by_signals() -> Iterator[Event]:
    """Give an event that the first Ctrl-C or SIGTERM sets; the second one acts as usual."""
    stop = Event()
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    def set_stop(*_: object) -> None:
        stop.set()
        restore()

    for number in before:
        signal.signal(number, set_stop)
    try:
        yield stop
    finally:
        restore()


_HEADING = "job                         status     attempts  created (UTC)     name                  about"
_TEXT_COLUMNS = 1000


def show_jobs(jobs: Sequence[Job]) -> None:
    """Print a list of jobs."""
    if not jobs:
        click.echo("no jobs")
        return
    columns = max(shutil.get_terminal_size().columns, len(_HEADING) + 20)
    click.echo(_HEADING)
    for job in jobs:
        attempts = of(f"{job.attempts}", f"{job.max_attempts}")
        line = (
            f"{job.id}  {job.status:<9}  {attempts:>8}  {job.created_at:%Y-%m-%d %H:%M}  "
            f"{printable(job.name):<20}  {_text(job.error or job.payload)}"
        )
        click.echo(fitted(line, columns))


def show_job(job: Job) -> None:
    """Print a job."""
    show_status(job)
    for name, value in _facts(job):
        click.echo(f"{padded(name, 9)} {value}")


def show_status(job: Job) -> None:
    """Print a job's name and status."""
    click.echo(f"{job.id}  {printable(job.name)}  {job.status}")


def show_outcome(job: Job) -> None:
    """Print on stderr how an attempt ended."""
    error = f": {_text(job.error)}" if job.error else ""
    click.echo(f"{job.id}  {printable(job.name)}  {job.status}{error}", err=True)


def show_report(report: "WorkReport") -> None:
    """Print how many attempts ended well, failed, or came too late."""
    lost = f", {report.lost:,} done by another worker meanwhile" if report.lost else ""
    click.echo(f"{report.done:,} done, {report.failed:,} failed{lost}")


def _facts(job: Job) -> list[tuple[str, str]]:
    finished = f"{job.finished_at:%Y-%m-%d %H:%M}" if job.finished_at else ""
    facts = [
        ("about", _text(job.payload)),
        ("key", _text(job.key)),
        ("priority", str(job.priority)),
        ("attempts", of(f"{job.attempts}", f"{job.max_attempts}")),
        ("created", f"{job.created_at:%Y-%m-%d %H:%M}"),
        ("due", f"{job.run_at:%Y-%m-%d %H:%M}" if job.status == "queued" else ""),
        ("finished", finished),
        ("error", _text(job.error)),
        ("result", "" if job.result is None else _text(job.result)),
    ]
    return [(name, value) for name, value in facts if value]


def _text(value: object) -> str:
    """Return a text, or a value as JSON, as one printable line."""
    text = value if isinstance(value, str) else orjson.dumps(value).decode()
    return fitted(printable(text[: _TEXT_COLUMNS + 1]), _TEXT_COLUMNS)
