"""Stored facts against fresh ones: after any change, the tables are the same."""

import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from coreloop.base.errors import CacheWriteError
from coreloop.learn.facts import store as store_module
from coreloop.learn.facts.counting import MineSettings
from coreloop.learn.facts.file import FileFacts
from coreloop.learn.facts.schema import NAMES
from coreloop.learn.facts.store import open_store
from coreloop.learn.mine import folder as folder_module
from coreloop.learn.mine.executors import Executor
from coreloop.learn.mine.folder import read_folder
from logs import call, failed, line, record
from rows import slow_after
from weekly import WEEKLY

PLAIN = MineSettings()


def _records(seed: int, count: int, *, first: int = 0) -> list[dict[str, Any]]:
    random = Random(seed)
    scenarios = [
        [call("analysis", {"axis": "수익성"}), call("show", {"topic": "x"})],
        [call("scan", {"axis": "배당"})],
        [failed("scan", {"axis": "배당"}, error=f"timed out after {random.randint(1, 99)} s")],
        [failed("show"), call("analysis", {"axis": "성장성"})],
        [],
    ]
    return [
        record(
            request_id=f"req-{seed:08x}{first + number:08x}",
            ts=f"2026-04-2{random.randint(4, 5)}T0{random.randint(0, 9)}:00:00.{random.randint(0, 9):06}Z",
            question=f"질문 {random.randint(1, 30)}",
            session_hash=f"session:{random.randint(0, 9):016x}",
            provider=random.choice(["openai", "google", None]),
            tool_calls=random.choice(scenarios),
            chunk_len=random.choice([100, 300, 900]),
        )
        for number in range(count)
    ]


def _lines(seed: int, count: int = 40) -> bytes:
    return b"".join(map(line, _records(seed, count)))


def _assert_same(files: list[FileFacts], expected: list[FileFacts]) -> None:
    assert [file.path for file in files] == [file.path for file in expected]
    for file, expected_file in zip(files, expected, strict=True):
        for name in NAMES:
            mine, fresh = (
                getattr(file.facts, name).collect(),
                getattr(expected_file.facts, name).collect(),
            )
            assert_frame_equal(mine, fresh, check_exact=True)
        assert (file.oddities, dict(file.days)) == (expected_file.oddities, dict(expected_file.days))


@dataclass
class Project:
    """A folder of logs and a folder of stored facts."""

    root: Path
    settings: MineSettings = PLAIN
    read: dict[str, int] = field(default_factory=dict)

    @property
    def logs(self) -> Path:
        return self.root / "logs"

    @property
    def cache_dir(self) -> Path:
        return self.root / "facts"

    def write(self, name: str, content: bytes, *, append: bool = False) -> Path:
        self.logs.mkdir(exist_ok=True)
        with (self.logs / name).open("ab" if append else "wb") as file:
            file.write(content)
        return self.logs / name

    def check(self, *, check: bool = False, executor: Executor | None = None) -> None:
        """Read with the store, compare with fresh facts, and remember what was read of each file."""
        fresh = read_folder(self.logs, self.settings)
        with open_store(self.cache_dir, self.settings, check=check) as store:
            files = read_folder(self.logs, self.settings, store=store, executor=executor)
            _assert_same(files, fresh)
            store.sweep(self.logs)
        self.read = {file.path.name: file.n_bytes_read or 0 for file in files}

    def folders(self) -> list[Path]:
        return sorted(path for path in self.cache_dir.iterdir() if path.is_dir())


@pytest.fixture
def project(tmp_path: Path) -> Project:
    created = Project(tmp_path)
    created.write("2026-04-24.jsonl", _lines(1))
    created.write("2026-04-25.jsonl", _lines(2))
    created.check()
    return created


def test_a_second_run_reads_nothing(project: Project):
    project.check()
    assert project.read == {"2026-04-24.jsonl": 0, "2026-04-25.jsonl": 0}


def test_of_a_file_that_grew_only_the_new_part_is_read(project: Project):
    more = b"".join(map(line, _records(2, 9, first=40)))
    project.write("2026-04-25.jsonl", more, append=True)
    project.check()
    assert project.read == {"2026-04-24.jsonl": 0, "2026-04-25.jsonl": len(more)}
    assert len(project.folders()) == 2


def _segments(project: Project, name: str) -> list[Path]:
    (folder,) = (path for path in project.folders() if path.name.startswith(name))
    return sorted((path for path in folder.iterdir() if path.is_dir()), key=lambda path: int(path.name))


def test_an_append_adds_a_segment_and_leaves_the_ones_before_it(project: Project):
    inodes = _inodes(project, "2026-04-25")
    for seed in (3, 4):
        project.write("2026-04-25.jsonl", _lines(seed, 7), append=True)
        project.check()
    assert len(_segments(project, "2026-04-25")) == 3
    assert _inodes(project, "2026-04-25")[: len(NAMES)] == inodes


def test_segments_are_merged_when_a_newer_file_has_begun(project: Project, tmp_path: Path):
    for seed in (3, 4):
        project.write("2026-04-25.jsonl", _lines(seed, 7), append=True)
        project.check()
    project.write("2026-04-26.jsonl", _lines(5))
    project.check()
    assert project.read["2026-04-25.jsonl"] == 0
    (merged,) = _segments(project, "2026-04-25")
    again = Project(tmp_path / "again")
    again.root.mkdir()
    again.write("2026-04-25.jsonl", (project.logs / "2026-04-25.jsonl").read_bytes())
    again.check()
    (complete,) = _segments(again, "2026-04-25")
    for name in NAMES:
        assert (merged / f"{name}.parquet").read_bytes() == (complete / f"{name}.parquet").read_bytes()


@pytest.mark.slow
def test_a_file_with_many_appends_has_a_limited_number_of_segments(project: Project):
    for seed in range(20):
        project.write("2026-04-25.jsonl", _lines(seed, 2), append=True)
        project.check()
    assert len(_segments(project, "2026-04-25")) < 16


def test_a_segment_of_a_whole_chunk_is_never_merged(project: Project, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(folder_module, "_CHUNK_BYTES", 4000)
    project.write("2026-04-26.jsonl", _lines(7, 40))
    project.write("2026-04-27.jsonl", _lines(8))
    project.check()
    inodes = _inodes(project, "2026-04-26")
    assert len(inodes) > 3 * len(NAMES)
    project.write("2026-04-28.jsonl", _lines(9))
    project.check()
    assert _inodes(project, "2026-04-26") == inodes


def _inodes(project: Project, name: str) -> list[int]:
    return [path.stat().st_ino for part in _segments(project, name) for path in sorted(part.iterdir())]


def test_a_disk_that_knows_no_links_has_copies(project: Project, monkeypatch: pytest.MonkeyPatch):
    def refuse(*_: Any) -> None:
        raise PermissionError(1, "no links here")

    monkeypatch.setattr(os, "link", refuse)
    project.write("2026-04-25.jsonl", _lines(3, 7), append=True)
    project.check()
    assert len(_segments(project, "2026-04-25")) == 2


def test_an_unfinished_line_is_counted_completely_when_it_is_finished(project: Project):
    single = line(_records(5, 1)[0])
    project.write("2026-04-25.jsonl", single[:50], append=True)
    project.check()
    project.write("2026-04-25.jsonl", single[50:] + _lines(6, 3), append=True)
    project.check()
    assert project.read["2026-04-25.jsonl"] > 50


def _change_the_middle(path: Path) -> None:
    content = bytearray(path.read_bytes())
    place = content.find(b'"chunk_len": 900')
    content[place : place + 16] = b'"chunk_len": 100'
    with path.open("r+b") as file:
        file.write(content)


def _shrink(path: Path) -> None:
    os.truncate(path, path.read_bytes().rfind(b"\n", 0, -1) + 1)


def _replace(path: Path) -> None:
    other = path.with_name("other")
    other.write_bytes(_lines(9, 60))
    other.replace(path)


def _save_in_an_editor(path: Path) -> None:
    """Longer, with the same first and last 4,096 bytes before the new end, and another middle."""
    content = path.read_bytes().replace(b'"chunk_len": 900', b'"chunk_len": 100', 25)
    other = path.with_name("other")
    other.write_bytes(content + _lines(8, 1))
    other.replace(path)


def _rewrite(path: Path) -> None:
    path.write_bytes(_lines(11, 80))


def _empty(path: Path) -> None:
    path.write_bytes(b"")


@pytest.mark.parametrize(
    "change", slow_after(2, [_change_the_middle, _shrink, _replace, _save_in_an_editor, _rewrite, _empty])
)
def test_a_file_that_changed_is_counted_again(project: Project, change: Any):
    before = (project.logs / "2026-04-25.jsonl").stat()
    change(project.logs / "2026-04-25.jsonl")
    os.utime(project.logs / "2026-04-25.jsonl", ns=(before.st_atime_ns, before.st_mtime_ns - 10**9))
    project.check()
    assert project.read["2026-04-24.jsonl"] == 0
    assert len(project.folders()) == 2


def test_the_facts_of_a_removed_file_are_removed(project: Project):
    (project.logs / "2026-04-24.jsonl").unlink()
    project.check()
    assert [path.name[:10] for path in project.folders()] == ["2026-04-25"]


def test_the_facts_of_a_file_removed_during_the_run_are_removed(project: Project):
    """As the records that `retention_days` removes."""
    more = project.write("2026-04-23.jsonl", _lines(3))
    with open_store(project.cache_dir, PLAIN) as store:
        read_folder(project.logs, PLAIN, store=store)
        more.unlink()
        (project.logs / "2026-04-24.jsonl").unlink()
        store.sweep(project.logs)
    assert [path.name[:10] for path in project.folders()] == ["2026-04-25"]


@pytest.mark.parametrize(
    "other",
    slow_after(
        1,
        [
            MineSettings(min_chunk_len=50),
            MineSettings(handoff=frozenset({"show"})),
            MineSettings(verdicts={_records(2, 40)[3]["request_id"]: "V"}),
            MineSettings(replayed=frozenset({_records(2, 40)[3]["request_id"]})),
        ],
    ),
    ids=["answer length", "handover", "verdict", "replay"],
)
def test_what_only_a_query_asks_makes_no_file_be_read_again(project: Project, other: MineSettings):
    project.settings = other
    project.check()
    assert set(project.read.values()) == {0}


def test_facts_of_other_selectors_are_kept_separately(project: Project):
    project.settings = MineSettings(selectors={"show": ("topic",)})
    project.check()
    assert 0 not in project.read.values()
    project.settings = PLAIN
    project.check()
    assert set(project.read.values()) == {0}


def test_another_version_counts_again_and_leaves_nothing_of_the_one_before(
    project: Project, monkeypatch: pytest.MonkeyPatch
):
    before = project.folders()
    monkeypatch.setattr(store_module, "VERSION", f"{store_module.VERSION}, newer")
    project.check()
    assert 0 not in project.read.values()
    assert len(project.folders()) == len(before)
    assert not set(before) & set(project.folders())


def test_another_key_of_cases_counts_again_and_leaves_nothing_of_the_one_before(project: Project):
    project.settings = MineSettings(case_key=b"made since")
    project.check()
    assert 0 not in project.read.values()
    assert len(project.folders()) == 2


@pytest.mark.parametrize("name", slow_after(2, [*NAMES, "facts"]))
def test_a_truncated_file_is_made_again(project: Project, name: str):
    (damaged,) = (path for path in project.folders() if path.name.startswith("2026-04-24"))
    path = damaged / ("facts.json" if name == "facts" else f"0/{name}.parquet")
    os.truncate(path, path.stat().st_size - 1)
    project.check()
    assert project.read["2026-04-25.jsonl"] == 0 < project.read["2026-04-24.jsonl"]
    assert damaged not in project.folders()


def test_a_damaged_file_of_the_same_size_is_found_by_a_check(project: Project):
    (damaged,) = (path for path in project.folders() if path.name.startswith("2026-04-24"))
    content = bytearray((damaged / "0" / "requests.parquet").read_bytes())
    content[len(content) // 2] ^= 0xFF
    (damaged / "0" / "requests.parquet").write_bytes(content)
    project.check(check=True)
    assert project.read["2026-04-25.jsonl"] == 0 < project.read["2026-04-24.jsonl"]


def test_a_project_that_was_moved_keeps_its_facts(project: Project):
    moved = project.root.with_name("옮긴 프로젝트")
    project.root.rename(moved)
    project.root = moved
    project.check()
    assert set(project.read.values()) == {0}


def test_only_this_user_can_read_facts(project: Project):
    everything = [path for folder in project.folders() for path in (folder, *folder.rglob("*"))]
    modes = {path.stat().st_mode & 0o777 for path in everything if path.is_dir()}
    files = {path.stat().st_mode & 0o777 for path in everything if path.is_file()}
    assert (modes, files, project.cache_dir.stat().st_mode & 0o777) == ({0o700}, {0o600}, 0o700)


def test_leftovers_of_a_killed_run_are_swept(project: Project):
    (project.cache_dir / ".making-left" / "2026-04-24-0").mkdir(parents=True)
    project.check()
    assert not (project.cache_dir / ".making-left").exists()


def test_nothing_is_swept_while_another_run_reads(project: Project):
    with open_store(project.cache_dir, PLAIN) as reading:
        files = read_folder(project.logs, PLAIN, store=reading)
        project.write("2026-04-25.jsonl", _lines(3, 5), append=True)
        project.check()
        assert files[1].facts.requests.collect().height > 0
    assert len(project.folders()) == 3
    project.check()
    assert len(project.folders()) == 2


def test_a_large_file_is_counted_in_parts(project: Project, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(folder_module, "_CHUNK_BYTES", 1500)
    project.write("2026-04-26.jsonl", b"\xef\xbb\xbf" + _lines(7, 50) + b"torn")
    project.check()
    assert project.read["2026-04-26.jsonl"] > 10 * 1500


def test_without_a_folder_facts_last_as_long_as_the_run(project: Project):
    with open_store(None, PLAIN) as store:
        files = read_folder(project.logs, PLAIN, store=store)
        _assert_same(files, read_folder(project.logs, PLAIN))
    assert not store.folder.exists()


@pytest.mark.slow
def test_several_processes_give_the_same_counts(project: Project, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("coreloop.learn.mine.executors._WORTH_A_PROCESS_BYTES", 1)
    monkeypatch.setattr("coreloop.learn.facts.read_lines._BYTES_AT_ONCE", 1)
    monkeypatch.setattr(folder_module, "_CHUNK_BYTES", 4000)
    shutil.rmtree(project.cache_dir)
    project.check(executor=Executor(jobs=2))
    assert 0 not in project.read.values()


def test_an_unusable_folder_is_an_error(tmp_path: Path):
    (tmp_path / "facts").write_text("a file")
    with pytest.raises(CacheWriteError, match="facts"), open_store(tmp_path / "facts", PLAIN):
        pass


# --- whatever happens, in any order ---------------------------------------------------------------

DAYS = st.sampled_from(["2026-04-24.jsonl", "2026-04-25.jsonl"])
ACTIONS = st.one_of(
    st.tuples(st.just("append"), DAYS, st.integers(0, 9)),
    st.tuples(st.just("tear"), DAYS, st.integers(1, 300)),
    st.tuples(st.just("truncate"), DAYS, st.integers(0, 3000)),
    st.tuples(st.just("replace"), DAYS, st.integers(0, 9)),
    st.tuples(st.just("remove"), DAYS, st.none()),
    st.tuples(st.just("judge"), DAYS, st.tuples(st.integers(0, 9), st.sampled_from("PVC"))),
    st.tuples(st.just("replay"), DAYS, st.integers(0, 9)),
    st.tuples(st.just("settings"), DAYS, st.sampled_from([0, 400])),
    st.tuples(st.just("clock"), DAYS, st.integers(-(10**6), 10**6)),
)


def _apply(project: Project, action: str, name: str, detail: Any) -> None:
    path, now = project.logs / name, project.settings
    if action == "append":
        project.write(name, _lines(detail, detail), append=True)
    elif action == "tear":
        project.write(name, _lines(7, 1)[:detail], append=True)
    elif action == "truncate" and path.exists():
        os.truncate(path, min(detail, path.stat().st_size))
    elif action == "replace":
        project.write(name, _lines(detail + 20, detail))
    elif action == "remove":
        path.unlink(missing_ok=True)
    elif action == "judge":
        verdicts = {**now.verdicts, _records(detail[0], 1)[0]["request_id"]: detail[1]}
        project.settings = MineSettings(min_chunk_len=now.min_chunk_len, verdicts=verdicts)
    elif action == "replay":
        replayed = now.replayed | {_records(detail, 1)[0]["request_id"]}
        project.settings = MineSettings(replayed=replayed, verdicts=now.verdicts)
    elif action == "settings":
        project.settings = MineSettings(min_chunk_len=detail, verdicts=now.verdicts, replayed=now.replayed)
    elif action == "clock" and path.exists():
        os.utime(path, (1_780_000_000 + detail, 1_780_000_000 + detail))


@pytest.mark.slow
@settings(max_examples=40 if WEEKLY else 15, deadline=None)
@given(st.lists(ACTIONS, max_size=8))
def test_after_any_changes_the_counts_are_those_of_a_fresh_count(actions: list[tuple[str, str, Any]]):
    for root in _in_a_folder():
        project = Project(root)
        project.write("2026-04-24.jsonl", _lines(1, 5))
        for action in actions:
            _apply(project, *action)
            project.check()


def _in_a_folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


# --- real processes -------------------------------------------------------------------------------

RUN = textwrap.dedent("""
    import sys
    from pathlib import Path
    from coreloop.learn.mine.folder import read_folder
    from coreloop.learn.facts.counting import MineSettings
    from coreloop.learn.facts.store import open_store
    logs, cache_dir = map(Path, sys.argv[1:3])
    print("ready", flush=True)
    with open_store(cache_dir, MineSettings()) as store:
        files = read_folder(logs, MineSettings(), store=store)
        heights = [file.facts.requests.collect().height for file in files]
        store.sweep(logs)
    print(sum(heights))
""")


def _start(project: Project, **options: Any) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", RUN, project.logs, project.cache_dir]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)


@pytest.mark.slow
def test_concurrent_runs_on_a_growing_log_do_not_disturb_each_other(project: Project):
    running = [_start(project) for _ in range(4)]
    for number in range(20):
        project.write(
            "2026-04-25.jsonl", b"".join(map(line, _records(2, 5, first=100 + 5 * number))), append=True
        )
    outputs = [process.communicate() for process in running]
    assert [error for _, error in outputs] == [""] * 4
    assert all(80 <= int(out.split()[1]) <= 180 for out, _ in outputs)
    project.check()
    assert len(project.folders()) == 2


@pytest.mark.slow
def test_a_run_that_is_killed_at_any_point_leaves_only_complete_facts(project: Project):
    points = range(0, 30, 1 if WEEKLY else 3)
    for number in range(30):
        project.write(f"more-{number}.jsonl", _lines(number + 50, 100))
    n_interrupted = 0
    for point in points:
        shutil.rmtree(project.cache_dir)
        process = _start(project)
        assert process.stdout is not None
        process.stdout.readline()
        while process.poll() is None and (not project.cache_dir.exists() or len(project.folders()) <= point):
            time.sleep(0.001)  # a processor is left to the run
        n_interrupted += process.poll() is None
        process.kill()
        process.communicate()
        project.check(check=True)
        assert len(project.folders()) == 32
    assert n_interrupted > len(points) // 2  # the last points may come when the run is over


def _limits() -> Mapping[str, Any]:
    import resource

    return {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (700, 700))}


def test_a_full_disk_is_an_error_and_no_file_is_left(project: Project):
    project.write("2026-04-26.jsonl", _lines(7, 50))
    process = _start(project, **_limits())
    _, error = process.communicate()
    assert "CacheWriteError" in error
    project.check()
    assert [project.read["2026-04-24.jsonl"], project.read["2026-04-26.jsonl"] > 0] == [0, True]
