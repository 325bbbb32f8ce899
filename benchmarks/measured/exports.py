"""Run a tool over records: the export of ``sanitize`` as its command does it, Presidio, scrubadub."""

import json
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.planted import Sample, names_file

from coreloop.base.project.settings import SanitizeSettings
from coreloop.base.project.workspace import Workspace, open_workspace
from coreloop.sanitize.run import ExportRequest, check_records, export_records
from coreloop.sanitize.sanitize_record import Mode

COUNTRIES = ("kr", "us", "uk", "eu")
HAS_COUNTRIES = "countries" in {setting.name for setting in fields(SanitizeSettings)}
OTHER_TOOLS = {"presidio": "presidio-analyzer==2.2.366", "scrubadub": "scrubadub==2.0.1"}
_SCRIPT = Path(__file__).with_name("other_tools.py")
_RECORDS = "records/in.jsonl"
_NOW = datetime(2026, 1, 1, tzinfo=UTC)


@contextmanager
def project(
    lines: Iterable[str], *, countries: Sequence[str] = COUNTRIES, names: str | None = None
) -> Iterator[Workspace]:
    """A scratch project with a table of companies in its coreloop.yaml, and its records."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        chosen = ["names: companies.tsv"] * (names is not None)
        chosen += [f"countries: [{', '.join(countries)}]"] * HAS_COUNTRIES
        settings = f"sanitize: {{{', '.join(chosen)}}}\n"
        (folder / "coreloop.yaml").write_text(settings, encoding="utf-8")
        (folder / "companies.tsv").write_text(names or "", encoding="utf-8")
        (folder / "records").mkdir()
        (folder / _RECORDS).write_text("".join(lines), encoding="utf-8")
        yield open_workspace(folder)


def as_lines(samples: Iterable[Sample]) -> list[str]:
    return [json.dumps(sample.record, ensure_ascii=False) + "\n" for sample in samples]


def export(workspace: Workspace, mode: Mode, *, out: str = "out") -> Path:
    """Export the project's records in one process, and return the new file."""
    request = ExportRequest(
        mode=mode, now=_NOW, source=workspace.root / _RECORDS, out=workspace.root / out, jobs=1
    )
    done = export_records(workspace, request)
    if not done.is_clean:
        raise SystemExit(f"mode {mode} rejected lines: {done.to_json().decode()}")
    (file,) = (workspace.root / out).iterdir()
    return file


def check(workspace: Workspace) -> None:
    check_records(workspace, [workspace.root / _RECORDS], jobs=1)


def exported(samples: Sequence[Sample], mode: Mode, *, names: str = names_file()) -> list[Any]:
    """The records as an export of them has them."""
    with project(as_lines(samples), names=names) as workspace:
        return _parsed(export(workspace, mode).read_text(encoding="utf-8"))


def masked_by(tool: str, samples: Sequence[Sample]) -> list[Any]:
    """The records as another tool masks them, in an environment of its own."""
    packages = [part for package in OTHER_TOOLS.values() for part in ("--with", package)]
    command = ["uv", "run", "--no-project", *packages, "python", str(_SCRIPT), tool]
    done = subprocess.run(
        command,
        input="".join(as_lines(samples)),
        capture_output=True,
        check=False,
        text=True,
        encoding="utf-8",
    )
    if done.returncode:
        raise SystemExit(f"{tool} failed:\n{done.stderr[-2000:]}")
    return _parsed(done.stdout)


def _parsed(text: str) -> list[Any]:
    return [json.loads(line) for line in text.split("\n") if line]
