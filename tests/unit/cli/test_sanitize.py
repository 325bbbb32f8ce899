"""The command ``sanitize`` as people and programs meet it."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from logs import call, record, write_log
from rows import slow_after

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    write_log(
        tmp_path / "data/audit/ai-ask/2026-04-25.jsonl",
        [record(question="삼성전자 담당 hong@example.com에게 보낼 것"), record()],
    )
    return tmp_path


@pytest.fixture
def run(command: Run) -> Run:
    return lambda project, *words: command(project, "sanitize", *words)


@pytest.mark.parametrize("mode", slow_after(1, ["hash", "drop", "mask"]))
def test_the_output_of_each_mode_passes_the_check(run: Run, project: Path, mode: str):
    done = run(project, "--mode", mode, "--out", "out", "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert (report["mode"], report["in"], report["out"], report["rejected"]) == (mode, 2, 2, 0)
    checked = run(project, "--check", "out")
    assert (checked.returncode, "no private data found: " in checked.stdout) == (0, True)


def test_the_check_says_which_names_it_does_not_look_for(run: Run, project: Path):
    one = record(tool_calls=[call("book", {"name": "Mara Klein"})], question="Book a room")
    write_log(project / "named" / "2026-04-25.jsonl", [one])
    checked = run(project, "--check", "named")
    assert checked.returncode == 0
    assert (
        "not looked for: names of persons without a title, a word or a key such as full_name"
        in checked.stdout
    )
    one["tool_calls"][0]["args"] = {"full_name": "Mara Klein"}
    write_log(project / "named" / "2026-04-25.jsonl", [one])
    assert run(project, "--check", "named").returncode == 1


def test_without_paths_the_copy_lies_beside_the_records(run: Run, project: Path):
    assert run(project, "--mode", "mask").returncode == 0
    (out,) = (project / "data/audit/sanitized").iterdir()
    assert out.name.startswith("mask-")
    assert "[EMAIL-1]" in next(out.iterdir()).read_text(encoding="utf-8")


REFUSED = {
    "no mode": ([], "give --mode"),
    "a path without --check": (["data"], "PATH is for --check; to copy a folder, give --in"),
    "a mode to check": (["--check", "--mode", "mask"], "--check writes nothing"),
    "names without mask": (["--mode", "hash", "--names", "names.tsv"], "--names is for --mode mask"),
    "the same folder": (["--mode", "mask", "--out", "data/audit/ai-ask"], "lies in it"),
    "a key that others will read": (
        ["--mode", "hash", "--out", "o", "--key-file", "o/k"],
        "keep the key elsewhere",
    ),
    "names without a company": (["--mode", "mask", "--names", "empty.tsv"], "has no companies"),
    "a copy among the records": (
        ["--mode", "hash", "--in", "other", "--out", "data/audit/ai-ask/copy"],
        "which is only read",
    ),
    "a copy in the folder of the file": (
        ["--mode", "hash", "--in", "other/a.jsonl", "--out", "other/b/copy"],
        "which is only read",
    ),
    "no such folder": (["--mode", "mask", "--in", "none"], "does not exist"),
    "a check of an empty folder": (["--check", "empty"], "empty: has no records"),
    "an export of an empty folder": (["--mode", "hash", "--in", "empty"], "empty: has no records"),
    "no such names": (["--mode", "mask", "--names", "none.tsv"], "none.tsv"),
    "a line of names without a name": (["--mode", "mask", "--names", "bad.tsv"], "line 1 is not"),
}


@pytest.mark.parametrize(("words", "mention"), REFUSED.values(), ids=REFUSED)
def test_a_mistake_is_one_line_and_exit_2(run: Run, project: Path, words: list[str], mention: str):
    (project / "names.tsv").write_text("005930\t삼성전자\n", encoding="utf-8")
    (project / "bad.tsv").write_text("005930\n", encoding="utf-8")
    write_log(project / "other" / "a.jsonl", [record()])
    (project / "empty").mkdir()
    (project / "empty.tsv").touch()
    log = (project / "other" / "a.jsonl").read_bytes()
    done = run(project, *words)
    assert (project / "other" / "a.jsonl").read_bytes() == log
    assert done.returncode == 2
    assert done.stdout == ""
    assert mention in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_check_of_unreadable_lines_finds_nothing_and_says_so(run: Run, project: Path):
    (project / "torn.jsonl").write_text('{"question": "hong@exam\n')
    done = run(project, "--check", "torn.jsonl", "data/audit/ai-ask")
    assert done.returncode == 1
    assert "torn.jsonl:\n1 line: 0 read, 1 rejected\n  nothing was checked" in done.stdout
    assert "data/audit/ai-ask:\n2 lines: 2 read" in done.stdout


@pytest.mark.parametrize(
    ("ignored", "key", "warns"),
    [("", "key", True), ("key\n", "key", False), ("", "../key", False), ("", "sub/key", True)],
    ids=["not ignored", "ignored", "outside", "in a subfolder"],
)
def test_a_key_that_git_would_add_is_warned_of(run: Run, project: Path, ignored: str, key: str, warns: bool):
    root = project / "repository"
    write_log(root / "in" / "a.jsonl", [record()])
    (root / "sub").mkdir()
    subprocess.run(["git", "init", "--quiet", root], check=True)
    (root / ".gitignore").write_text(ignored)
    done = run(root, "--mode", "hash", "--in", "in", "--out", "out", "--key-file", key)
    assert done.returncode == 0
    assert (f"warning: {key}: git does not ignore the key; add it to .gitignore" in done.stderr) is warns
    assert done.stderr.count("\n") == (2 if warns else 1)
