"""What ``jobs`` prints."""

import dataclasses
import shutil
from collections.abc import Sequence

import click
import orjson

from coreloop.base.text import fitted, printable
from coreloop.runs.jobs.job import Job
from coreloop.runs.jobs.work import WorkReport

_HEADING = f"{'job':<26}  {'status':<9}  {'attempts':>8}  {'created (UTC)':<16}  {'name':<20}  about"
_TEXT_COLUMNS = 1000


def show_jobs(jobs: Sequence[Job], *, as_json: bool) -> None:
    """Print a list of jobs."""
    if as_json:
        click.echo(orjson.dumps([dataclasses.asdict(job) for job in jobs], option=orjson.OPT_INDENT_2))
        return
    if not jobs:
        click.echo("no jobs")
        return
    columns = max(shutil.get_terminal_size().columns, len(_HEADING) + 20)
    click.echo(_HEADING)
    for job in jobs:
        attempts = f"{job.attempts} of {job.max_attempts}"
        line = (
            f"{job.id}  {job.status:<9}  {attempts:>8}  {job.created_at:%Y-%m-%d %H:%M}  "
            f"{printable(job.name):<20}  {_text(job.error or job.payload)}"
        )
        click.echo(fitted(line, columns))


def show_job(job: Job, *, as_json: bool) -> None:
    """Print a job."""
    if as_json:
        click.echo(orjson.dumps(dataclasses.asdict(job), option=orjson.OPT_INDENT_2))
        return
    show_status(job, as_json=False)
    for name, value in _facts(job):
        click.echo(f"{name:<9} {value}")


def show_status(job: Job, *, as_json: bool) -> None:
    """Print a job's name and status."""
    facts = {"id": job.id, "name": job.name, "status": job.status}
    click.echo(orjson.dumps(facts) if as_json else f"{job.id}  {printable(job.name)}  {job.status}")


def show_outcome(job: Job) -> None:
    """Print on stderr how an attempt ended."""
    error = f": {_text(job.error)}" if job.error else ""
    click.echo(f"{job.id}  {printable(job.name)}  {job.status}{error}", err=True)


def show_report(report: WorkReport, *, as_json: bool) -> None:
    """Print how many attempts ended well, failed, or came too late."""
    if as_json:
        click.echo(orjson.dumps(dataclasses.asdict(report)))
        return
    lost = f", {report.lost:,} done by another worker meanwhile" if report.lost else ""
    click.echo(f"{report.done:,} done, {report.failed:,} failed{lost}")


def _facts(job: Job) -> list[tuple[str, str]]:
    finished = f"{job.finished_at:%Y-%m-%d %H:%M}" if job.finished_at else ""
    facts = [
        ("about", _text(job.payload)),
        ("key", _text(job.key)),
        ("priority", str(job.priority)),
        ("attempts", f"{job.attempts} of {job.max_attempts}"),
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
