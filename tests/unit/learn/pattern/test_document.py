"""The two files of a night: stable ids, redaction on demand, no half-written files."""

import json
import re
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, date, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
import pytest

from coreloop.base.date_range import Days
from coreloop.base.errors import WorkspaceError
from coreloop.base.project.settings import Gates, Settings
from coreloop.base.project.tools import Tool, Unresolved
from coreloop.base.project.workspace import Workspace
from coreloop.learn.facts.counting import MineSettings
from coreloop.learn.mine.folder import read_folder
from coreloop.learn.pattern.run import Proposals, propose, write_proposals
from coreloop.learn.proposals.entry import Candidate
from coreloop.learn.proposals.page import candidates_markdown
from coreloop.learn.proposals.proposal_files import CandidatesFile, assign_ids, to_json
from coreloop.learn.proposals.vocabulary import Vocabulary
from logs import call, record, repeated, rest, word, write_log
from rows import slow_after

NOW = datetime(2026, 4, 25, 12, tzinfo=UTC)
DAY = NOW.date()
ALWAYS = Days(date(2000, 1, 1), date(2100, 1, 1))
LOUD = re.compile(r"[A-Za-z]*CANARY\w*")


def _proposals(folder: Path, *records: dict[str, Any], name: str = "log") -> Proposals:
    write_log(folder / name / "a.jsonl", records)
    files = read_folder(folder / name, MineSettings())
    return propose(files, ALWAYS, Gates(), workspace=Workspace(folder, Settings()))


def _write(
    proposals: Proposals, folder: Path, *, now: datetime = NOW, sanitized: bool = False
) -> tuple[CandidatesFile, tuple[Path, Path]]:
    return write_proposals(proposals, folder / "out", now=now, sanitized=sanitized)


def _requests(*names: str) -> list[dict[str, Any]]:
    return [row for name in names for row in repeated(3, tool_calls=[call(name)])]


def _read(path: Path) -> CandidatesFile:
    return msgspec.json.decode(path.read_bytes(), type=CandidatesFile)


def _ids(document: CandidatesFile) -> dict[str, str]:
    return {candidate.engine: candidate.id for candidate in document.candidates}


def test_a_document_is_read_back_as_it_was_written(tmp_path: Path):
    document, (path, _) = _write(_proposals(tmp_path, *_requests("a", "b")), tmp_path)
    assert path.name == "2026-04-25-candidates.json"
    assert _read(path) == document
    assert len(document.candidates) == 2


def test_the_file_has_its_documented_keys(tmp_path: Path):
    _, (path, _) = _write(_proposals(tmp_path, *repeated(3), *rest()), tmp_path)
    written = json.loads(path.read_bytes())
    assert written.keys() == {
        "schema_version",
        "generated_at",
        "window",
        "candidates",
        "statements",
        "notes",
        "ids",
        "n_folded",
        "draft_sha256",
    }
    assert written["schema_version"] == 1
    assert written["window"] == {"since": "2000-01-01", "until": "2100-01-01"}
    assert written["generated_at"] == "2026-04-25T12:00:00+00:00"
    (candidate,) = written["candidates"]
    assert candidate["id"] == "cand-2026-04-25-001"
    assert candidate["tool_pattern"] == [
        {"name": "analysis", "selectors": {"axis": "수익성"}, "arg_keys": ["axis"]}
    ]
    assert candidate["suggested_append"].keys() == {"target_file", "target_symbol", "section", "body"}


def test_a_key_that_vanishes_and_returns_has_its_id_again(tmp_path: Path):
    first = _ids(_write(_proposals(tmp_path, *_requests("a", "b")), tmp_path)[0])
    without = _ids(_write(_proposals(tmp_path, *_requests("b", "c")), tmp_path)[0])
    _write(_proposals(tmp_path), tmp_path)
    back = _ids(_write(_proposals(tmp_path, *_requests("a", "b", "c", "d")), tmp_path)[0])
    assert back == {**first, **without, "d": "cand-2026-04-25-004"}


def test_groups_of_fewer_than_five_requests_are_listed_only_locally(tmp_path: Path):
    rows = [*repeated(5, tool_calls=[call("often")]), *repeated(4, tool_calls=[call("seldom")])]
    proposals = _proposals(tmp_path, *rows)
    local, _ = _write(proposals, tmp_path)
    assert {candidate.engine for candidate in local.candidates} == {"often", "seldom"}
    assert local.n_folded == 0
    key = next(candidate.key for candidate in local.candidates if candidate.engine == "seldom")
    published, paths = _write(proposals, tmp_path, sanitized=True)
    assert [candidate.n_observed for candidate in published.candidates] == [5]
    assert published.n_folded == 1
    text = "".join(path.read_text(encoding="utf-8") for path in paths)
    assert key not in text
    assert "seldom" not in text
    assert "Not listed: 1 of fewer than 5 requests." in text


def test_new_ids_continue_from_the_highest_number():
    known = {"old": "cand-2026-04-25-007", "odd": "mine"}
    ids = assign_ids(["new", "old", "new"], known, prefix="cand", day=DAY)
    assert ids == {**known, "new": "cand-2026-04-25-008"}


_RUN = """
import sys
from datetime import UTC, date, datetime
from pathlib import Path
from coreloop.learn.mine.folder import read_folder
from coreloop.learn.facts.counting import MineSettings
from coreloop.base.date_range import Days
from coreloop.learn.pattern.run import propose, write_proposals
from coreloop.base.project.settings import Gates
from coreloop.base.project.settings import Settings
from coreloop.base.project.workspace import Workspace

root, name = Path(sys.argv[1]), sys.argv[2]
files = read_folder(root / name, MineSettings())
days = Days(date(2000, 1, 1), date(2100, 1, 1))
proposals = propose(files, days, Gates(), workspace=Workspace(root, Settings()))
print("ready", flush=True)
sys.stdin.readline()
for _ in range(20):
    now = datetime(2026, 4, 25, 12, tzinfo=UTC)
    write_proposals(proposals, root / "out", now=now, sanitized=False)
"""


@pytest.mark.slow
def test_concurrent_processes_never_give_an_id_twice(tmp_path: Path):
    for name in ("one", "two"):
        ways = _requests("shared", *(f"{name}_{number}" for number in range(10)))
        write_log(tmp_path / name / "a.jsonl", ways)
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
    document = _read(tmp_path / "out" / "2026-04-25-candidates.json")
    assert len(document.candidates) == 11
    assert len(document.ids) == 21
    assert sorted(document.ids.values()) == [f"cand-2026-04-25-{n:03}" for n in range(1, 22)]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param(b"", "is damaged", id="empty"),
        pytest.param(b'{"schema_version": 1, "gen', "is damaged", id="torn"),
        pytest.param(b"[]", "is damaged", id="something else"),
        pytest.param(b"\xff\xfe", "is damaged", id="not text"),
        pytest.param(None, "cannot be read", id="a folder"),
    ],
)
def test_a_damaged_file_is_named_and_left_alone(content: bytes | None, message: str, tmp_path: Path):
    path = tmp_path / "out" / "2026-04-25-candidates.json"
    path.parent.mkdir()
    path.mkdir() if content is None else path.write_bytes(content)
    with pytest.raises(WorkspaceError, match=rf"2026-04-25-candidates\.json: {message}"):
        _write(_proposals(tmp_path, *repeated(3)), tmp_path)
    assert path.is_dir() if content is None else path.read_bytes() == content
    assert not (tmp_path / "out" / "2026-04-25-draft.md").exists()


def test_a_file_of_a_later_version_is_refused(tmp_path: Path):
    document, (path, _) = _write(_proposals(tmp_path, *repeated(3)), tmp_path)
    path.write_bytes(to_json(replace(document, schema_version=2)))
    with pytest.raises(WorkspaceError, match="has schema version 2; upgrade coreloop"):
        _write(_proposals(tmp_path, *repeated(3)), tmp_path)


def test_sanitize_removes_every_hash_of_a_redacted_value(tmp_path: Path):
    proposals = _proposals(tmp_path, *repeated(5, provider="acme-secret"))
    (candidate,) = proposals.candidate_search.candidates
    document, (path, draft) = _write(proposals, tmp_path, sanitized=True)
    written = path.read_text() + draft.read_text()
    assert candidate.key not in written
    assert candidate.seq_hash not in written
    assert document.candidates[0].providers == {"[REDACTED]": 5}
    assert document.ids == {f"withheld-{one_id}": one_id for one_id in ["cand-2026-04-25-001"]}


def _hostile(folder: Path) -> Proposals:
    calls = [
        call("분석 CANARY tool", {"axis": "CANARY axis", "sub": "CANARY sub", "CANARY_key": "CANARY value"}),
        call("show", {"axis": "CANARY", "CANARY key": 1, "topic": "CANARY"}),
    ]
    rows = repeated(5, tool_calls=calls, provider="CANARY provider & Sons", session_hash="CANARY session")
    for row in rows:
        row["question"] = f"CANARY {row['question']} 홍길동"
    return _proposals(folder, *rows)


def test_the_hostile_log_is_visible_if_not_sanitized(tmp_path: Path):
    _, (path, draft_path) = _write(_hostile(tmp_path), tmp_path)
    loud_keys = {key for key, value in _leaves(json.loads(path.read_bytes())) if LOUD.search(f"{key}{value}")}
    assert {key.rpartition(".")[2] for key in loud_keys} >= {
        "example_questions",
        "name",
        "axis",
        "sub",
        "arg_keys",
    }
    assert LOUD.search(draft_path.read_text(encoding="utf-8"))


def test_sanitize_redacts_every_field(tmp_path: Path):
    document, (path, draft_path) = _write(_hostile(tmp_path), tmp_path, sanitized=True)
    for text in (path.read_text(encoding="utf-8"), draft_path.read_text(encoding="utf-8")):
        assert LOUD.findall(text) == []
        assert "홍길동" not in text
        assert "질문" not in text
    (candidate,) = document.candidates
    assert candidate.example_questions == ()
    assert candidate.tool_pattern[0].name == "[REDACTED 14]"
    assert candidate.tool_pattern[0].selectors == {"axis": "[REDACTED 11]", "sub": "[REDACTED 10]"}


def _leaves(value: Any, path: str = "") -> list[tuple[str, Any]]:
    if isinstance(value, dict):
        return [leaf for key, item in value.items() for leaf in _leaves(item, f"{path}.{key}")]
    if isinstance(value, list):
        return [leaf for item in value for leaf in _leaves(item, path)]
    return [(path, value)]


def test_sanitize_keeps_what_the_source_declares(tmp_path: Path):
    (candidate,) = _proposals(tmp_path, *repeated(3)).candidate_search.candidates
    tool = Tool("analysis", "a.py", "analysis", ("axis",), frozenset({"수익성"}))
    redacted = candidate.shared(Vocabulary({"analysis": tool}, Settings()))
    assert (redacted.engine, redacted.axis, redacted.tool_pattern) == (
        candidate.engine,
        candidate.axis,
        candidate.tool_pattern,
    )
    unknown = candidate.shared(Vocabulary({"analysis": Unresolved("analysis", "no definition")}, Settings()))
    assert unknown.axis == "[REDACTED 3]"


def _markdown(*candidates: Candidate) -> str:
    document = CandidatesFile(generated_at=NOW, window=ALWAYS, candidates=candidates)
    return candidates_markdown(document, Vocabulary({}, Settings()))


HOSTILE_QUESTIONS = [
    "# a heading",
    "<script>alert(1)</script>",
    "[click](https://evil.example)",
    "![](https://evil.example/x.png)",
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


@pytest.mark.parametrize("question", slow_after(5, HOSTILE_QUESTIONS), ids=ascii)
def test_a_hostile_question_stays_on_its_line_of_code(question: str, tmp_path: Path):
    rows = [record(question=f"{question} {word(n)} 회사{word(n)}") for n in range(3)]
    (candidate,) = _proposals(tmp_path, *rows).candidate_search.candidates
    text = _markdown(candidate)
    asked = text.partition("```untrusted\n")[2].removesuffix("```\n").splitlines()
    assert len(asked) == 4  # and the steps
    assert all(line.startswith("    ") and line.isprintable() for line in asked)
    assert re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\ufeff]", text) is None


@pytest.mark.parametrize("name", ["# x", "<b>x</b>", "[x](https://e)", "a\n\nb", "`x`", "*x*", "x_y", "a|b"])
def test_a_hostile_name_is_no_markup_in_the_title(name: str, tmp_path: Path):
    (candidate,) = _proposals(tmp_path, *_requests(name)).candidate_search.candidates
    title = next(line for line in _markdown(candidate).splitlines() if line.startswith("## "))
    assert re.search(r"(?<!\\)[`*_\[\]<>#|]", title.removeprefix("## ")) is None
    assert _markdown(candidate).count("\n## ") == 1


def test_the_draft_of_nothing_says_so():
    assert "Nothing passed the gates." in _markdown()


def test_the_draft_names_the_target_or_why_there_is_none(tmp_path: Path):
    proposals = _proposals(tmp_path, *_requests("nowhere"), *rest())
    document, (_, draft_path) = _write(proposals, tmp_path)
    assert document.candidates[0].suggested_append is not None
    assert "- target: not known: no definition of that name" in draft_path.read_text(encoding="utf-8")


def test_the_file_names_the_draft_that_was_written_with_it(tmp_path: Path):
    document, (_, draft) = _write(_proposals(tmp_path, *_requests("a")), tmp_path)
    assert document.draft_sha256 == sha256(draft.read_bytes()).hexdigest()
