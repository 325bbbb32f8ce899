"""The two files of a night: stable ids, redaction on demand, no half-written files, no markup injection."""

import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest

from coreloop.base.errors import WorkspaceError
from coreloop.learn.proposals.proposal_files import (
    CandidatesFile,
    CounterexamplesFile,
    ProposalsFile,
    read_night,
)
from coreloop.learn.propose import NightRequest, PatternResult, RefineResult, propose, refine, write_night
from logs import call, failed, record, repeated, word
from rows import slow_after
from samples import ALWAYS, mined

NOW = datetime(2026, 4, 25, 12, tzinfo=UTC)
BLOCK = re.compile(r"```untrusted\n((?:    .*\n)+)```\n")
Run = Callable[..., PatternResult | RefineResult]


def _pattern(folder: Path, *records: dict[str, Any], **more: Any) -> PatternResult:
    return propose(mined(folder, records), ALWAYS, now=NOW, **more)


def _refine(folder: Path, *records: dict[str, Any]) -> RefineResult:
    return refine(mined(folder, records), ALWAYS, now=NOW)


def _write(
    result: PatternResult | RefineResult, folder: Path, *, sanitized: bool = False
) -> tuple[ProposalsFile, Path, Path]:
    request = NightRequest(days=ALWAYS, out=folder / "out", sanitized=sanitized)
    workspace = mined(folder, []).workspace
    written: Any = write_night(result, workspace, request)  # type: ignore[type-var]
    return (written.document, *written.paths)


def _working(*names: str) -> list[dict[str, Any]]:
    return [row for name in names for row in repeated(3, tool_calls=[call(name)])]


def _failing(*names: str, times: int = 2) -> list[dict[str, Any]]:
    return [record(tool_calls=[*[failed(name)] * times, call("finish")]) for name in names]


def _ids(document: ProposalsFile) -> dict[str, str]:
    return {entry.tool: entry.id for entry in document.entries}


BOTH = pytest.mark.parametrize(
    ("run", "rows", "kind"),
    [
        pytest.param(_pattern, _working, CandidatesFile, id="pattern"),
        pytest.param(_refine, _failing, CounterexamplesFile, id="refine"),
    ],
)


@BOTH
def test_a_document_is_read_back_as_it_was_written(
    run: Run, rows: Any, kind: type[ProposalsFile], tmp_path: Path
) -> None:
    document, path, draft = _write(run(tmp_path, *rows("a", "b")), tmp_path)
    assert (path.name, draft.name) == (f"2026-04-25-{kind.name}.json", "2026-04-25-draft.md")
    assert msgspec.json.decode(path.read_bytes(), type=kind) == document
    assert len(document.entries) == 2


@BOTH
def test_a_key_that_vanishes_and_returns_has_its_id_again(
    run: Run, rows: Any, kind: type[ProposalsFile], tmp_path: Path
) -> None:
    first = _ids(_write(run(tmp_path, *rows("a", "b")), tmp_path)[0])
    without = _ids(_write(run(tmp_path, *rows("b", "c")), tmp_path)[0])
    back = _ids(_write(run(tmp_path, *rows("a", "b", "c", "d")), tmp_path)[0])
    assert back == {**first, **without, "d": f"{kind.prefix}-2026-04-25-004"}


_RUN = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from coreloop.base.project.settings import Settings
from coreloop.base.project.workspace import Workspace
from coreloop.learn.facts.read_lines import MineSettings
from coreloop.learn.mine.folder import Mined, read_folder
from coreloop.learn.mine.window import EVERY_DAY
from coreloop.learn.propose import NightRequest, propose, write_night

root, name = Path(sys.argv[1]), sys.argv[2]
workspace = Workspace(root, Settings())
mined = Mined(workspace, read_folder(root / name / "log", MineSettings()))
result = propose(mined, EVERY_DAY, now=datetime(2026, 4, 25, 12, tzinfo=UTC))
print("ready", flush=True)
sys.stdin.readline()
for _ in range(20):
    write_night(result, workspace, NightRequest(days=EVERY_DAY, out=root / "out"))
"""


@pytest.mark.slow
def test_concurrent_processes_never_give_an_id_twice(tmp_path: Path) -> None:
    for name in ("one", "two"):
        mined(tmp_path / name, _working("shared", *(f"{name}_{number}" for number in range(10))))
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", _RUN, str(tmp_path), name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for name in ("one", "two")
    ]
    for run in runs:
        assert run.stdout is not None
        assert run.stdout.readline() == "ready\n"
    for run in runs:
        assert run.stdin is not None
        run.stdin.write("go\n")
        run.stdin.flush()
    for run in runs:
        run.communicate()
    assert [run.returncode for run in runs] == [0, 0]
    document = read_night(tmp_path / "out" / "2026-04-25-candidates.json", CandidatesFile)
    assert len(document.candidates) == 11
    assert sorted(document.ids.values()) == [f"cand-2026-04-25-{n:03}" for n in range(1, 22)]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param(b'{"schema_version": 1, "gen', "is damaged", id="torn"),
        pytest.param(None, "cannot be read", id="a folder"),
    ],
)
def test_a_damaged_file_is_named_and_left_alone(content: bytes | None, message: str, tmp_path: Path) -> None:
    path = tmp_path / "out" / "2026-04-25-candidates.json"
    path.parent.mkdir()
    path.mkdir() if content is None else path.write_bytes(content)
    with pytest.raises(WorkspaceError, match=rf"2026-04-25-candidates\.json: {message}"):
        _write(_pattern(tmp_path, *repeated(3)), tmp_path)
    assert path.is_dir() if content is None else path.read_bytes() == content
    assert not (tmp_path / "out" / "2026-04-25-draft.md").exists()


# --- sanitized -------------------------------------------------------------------------------------


@BOTH
def test_a_sanitized_file_counts_what_has_undeclared_names(
    run: Run, rows: Any, kind: type[ProposalsFile], tmp_path: Path
) -> None:
    result: Any = run(tmp_path, *rows("undeclared_a", "undeclared_b"))
    if kind is CandidatesFile:
        result = replace(result, document=replace(result.document, notes={"990168": ("a note",)}))
    document, *paths = _write(result, tmp_path, sanitized=True)
    written = "".join(path.read_text(encoding="utf-8") for path in paths)
    assert re.search("undeclared_|질문|990168|a note", written) is None
    assert not any(entry.key in written for entry in result.document.entries)
    assert (document.entries, document.n_folded) == ((), 2)
    assert all(key == f"withheld-{id}" for key, id in document.ids.items())


# --- the draft -------------------------------------------------------------------------------------


HOSTILE = [
    "# a heading",
    "<script>alert(1)</script>",
    "[click](https://evil.example)",
    "a\n\n# out of the block\n\nb",
    "a\r\n- a bullet",
    "```\nout of a fence",
    "| a | b |",
    "\u202ereversed",
    "\x1b[31mred\x1b[0m",
    "a\u2028b\u2029c\x85d\x0be\x0cf",
    "\tindented\t",
    "zero\u200bwidth\ufeff",
]


@pytest.mark.parametrize("text", slow_after(3, HOSTILE), ids=ascii)
@pytest.mark.parametrize("log", [_pattern, _refine])
def test_a_hostile_question_stays_on_its_line_of_code(log: Run, text: str, tmp_path: Path) -> None:
    calls = [failed("a"), call("b")] if log is _refine else [call("b")]
    rows = [record(tool_calls=calls, question=f"{text} {word(n)} 회사{word(n)}") for n in range(3)]
    _, _, draft = _write(log(tmp_path, *rows), tmp_path)
    shown = draft.read_text(encoding="utf-8")
    asked = "".join(BLOCK.findall(shown)).splitlines()
    assert any(line.endswith(f"회사{word(0)}") for line in asked)
    assert all(line.startswith("    ") and line.isprintable() for line in asked)
    assert all(line.isprintable() for line in shown.splitlines())
    assert "# out" not in BLOCK.sub("", shown)
