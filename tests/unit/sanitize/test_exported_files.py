"""Which files are read, which are listed as not read, and how a report names them."""

import json
from pathlib import Path

import pytest

from coreloop.base.errors import WorkspaceError
from coreloop.sanitize.company_names import Names
from coreloop.sanitize.detectors.rule import Detection, using
from coreloop.sanitize.export import Choices, check_dir, sanitize_dir
from coreloop.sanitize.files import PrintableNames, find_sources
from logs import record, write_log
from rows import each_row

MAIL = "hong@example.com"


def test_files_that_are_not_read_are_listed(tmp_path: Path) -> None:
    write_log(tmp_path / "in" / "a.jsonl", [record()])
    outside = write_log(tmp_path / "outside" / "b.jsonl", [record(question=MAIL)])
    for name in ("A.JSONL", "a.jsonl.bak", "a.jsonl.xz", "sub/notes.txt"):
        write_log(tmp_path / "in" / name, [record(question=MAIL)])
    (tmp_path / "in" / "folder").symlink_to(outside.parent, target_is_directory=True)
    (tmp_path / "in" / "log").symlink_to(outside)
    (tmp_path / "in" / ".gitkeep").touch()
    unread = ["folder", "A.JSONL", "a.jsonl.bak", "a.jsonl.xz", "log", "sub/notes.txt"]
    report = check_dir(tmp_path / "in").to_dict()
    assert (report["unread"], report["unread_files"]) == (6, unread)
    assert sanitize_dir(tmp_path / "in", tmp_path / "out", Choices(mode="hash")).unread == unread


@pytest.mark.parametrize(
    ("others", "mention"),
    [
        ([], "has no records"),
        (["A.JSONL", "b.bak"], "not read: A.JSONL, b.bak"),
        (list("abcdefg"), "d, e, …"),
    ],
    ids=["empty", "other names", "many"],
)
def test_a_folder_without_records_is_an_error(tmp_path: Path, others: list[str], mention: str) -> None:
    for name in others:
        (tmp_path / name).write_text("x")
    with pytest.raises(WorkspaceError, match=mention):
        find_sources(tmp_path)


@each_row(
    ("name", "shown"),
    [
        ("2026-04-25.jsonl", "2026-04-25.jsonl"),
        ("sub/records-0001.jsonl.gz", "sub/records-0001.jsonl.gz"),
        (f"{MAIL}/010-1234-5678.jsonl", "[EMAIL-1]/[PHONE-1].jsonl"),
        ("김민수.jsonl", "[PERSON-1].jsonl"),
        ("김민수 대표.jsonl", "[PERSON-1] 대표.jsonl"),
        ("들찬푸드.jsonl", "[COMPANY-1].jsonl"),
        ("매출분석.jsonl", "매출분석.jsonl"),
    ],
)
def test_private_data_in_a_file_s_name_is_masked(name: str, shown: str) -> None:
    names = Names([("000001", "들찬푸드", [])])
    with using(Detection(companies=names)):
        assert PrintableNames(Path("in"))(Path("in", name)) == shown


def test_a_report_has_no_private_file_name(tmp_path: Path) -> None:
    write_log(tmp_path / "in" / f"{MAIL}.jsonl", [record(question=MAIL)])
    (tmp_path / "in" / f"{MAIL}.2.jsonl").write_bytes(b"torn\n")
    (tmp_path / "in" / f"{MAIL}.bak").write_text("x")
    for report in (
        check_dir(tmp_path / "in"),
        sanitize_dir(tmp_path / "in", tmp_path / "out", Choices(mode="hash")),
    ):
        assert report.n_rejected == 1
        assert "hong" not in json.dumps(report.to_dict())
