"""Which files a path means, and the JSON values of a file."""

import gzip
import json
import lzma
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from coreloop.base.errors import WorkspaceError
from coreloop.observe.importers.files import find_trace_files, read_documents
from coreloop.observe.importers.traced_request import TORN
from foreign_traces import trace_file
from rows import slow_after


def _documents(path: Path, content: str | bytes) -> list[Any]:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    with trace_file(path).open() as file:
        return list(read_documents(file))


@pytest.mark.parametrize(
    ("content", "values"),
    [
        pytest.param('{"a": 1}\n{"a": 2}\n', [{"a": 1}, {"a": 2}], id="lines"),
        pytest.param('{"a": 1}\r\n\r\n{"a": 2}', [{"a": 1}, {"a": 2}], id="Windows, no newline at the end"),
        pytest.param("\ufeff\n" + '{"a": 1}\n', [{"a": 1}], id="byte order mark"),
        pytest.param(json.dumps({"a": [1, {"b": 2}]}, indent=1), [{"a": [1, {"b": 2}]}], id="document"),
        pytest.param('{"a": 1}\n{torn\n{"a": 2}\n{"a"', [{"a": 1}, TORN, {"a": 2}, TORN], id="torn lines"),
        pytest.param("", [], id="empty"),
        pytest.param(b"\xff\xfe\x00", [TORN], id="not UTF-8"),
        pytest.param("[" * 100_000, [TORN], id="nested without end"),
    ],
)
def test_values_of_a_file(tmp_path: Path, content: str | bytes, values: list[Any]) -> None:
    assert _documents(tmp_path / "a.json", content) == values


@pytest.mark.parametrize(
    "pack", slow_after(2, [bytes, gzip.compress, lzma.compress]), ids=["plain", "gz", "xz"]
)
@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_with_a_byte_order_mark_is_read(
    tmp_path: Path, encoding: str, pack: Callable[[bytes], bytes]
) -> None:
    values = [
        {"n": n, "질문": "배당\u2028은 \U0001f642?" * 9} for n in range(20_000)
    ]  # more than a buffer holds
    lines = "".join(json.dumps(value, ensure_ascii=False) + "\r\n" for value in values)
    suffix = {bytes: "", gzip.compress: ".gz", lzma.compress: ".xz"}[pack]
    path = tmp_path / f"a.jsonl{suffix}"
    path.write_bytes(pack(("\ufeff" + lines).encode(encoding)))
    with trace_file(path).open() as file:
        assert list(read_documents(file)) == values


def _found(*paths: Path) -> list[str]:
    return [file.path.name for file in find_trace_files(paths, (".json", ".jsonl"), now_s=0)]


def test_a_folder_means_all_files_of_the_format_below_it(tmp_path: Path) -> None:
    for name in ("b.jsonl", "a.json", "깊이/c.json.gz", "notes.txt", "d.eval"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.touch()
    assert _found(tmp_path) == ["a.json", "b.jsonl", "c.json.gz"]


def test_a_file_with_several_names_counts_once(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.touch()
    (tmp_path / "b.json").hardlink_to(path)
    assert _found(path, tmp_path, path) == ["a.json"]


def test_unusable_paths_are_named(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path, message in (
        (tmp_path / "missing", "cannot be read"),
        (tmp_path / "pipe", "is not a regular file"),
        (tmp_path, "has no file that ends in .json or .jsonl"),
    ):
        with pytest.raises(WorkspaceError, match=f"{path}: {message}"):
            _found(path)
