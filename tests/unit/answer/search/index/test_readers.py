"""The index while it is written: searches go on, and a killed writer leaves every file old or new."""

import random
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from coreloop.answer.text.terms import terms
from indexing import Indexed
from weekly import WEEKLY

WRITER = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from indexing import Indexed
print("ready", flush=True)
Indexed(Path(sys.argv[1])).update("files")
"""
TESTS = Path(__file__).parents[4]

VERSIONS = {"aardvark", "zebra"}


def files(version: str, count: int, *, words: int = 400) -> dict[str, str]:
    """Files of four sections that hold nothing but a version's word."""
    text = "".join(f"# Part {part}\n\n{f'{version} ' * (words // 4)}\n\n" for part in range(4))
    return {f"files/{number}.md": text for number in range(count)}


def written(project: Indexed) -> dict[str, set[str]]:
    """The versions among the passages of every document."""
    statement = "SELECT path, text FROM passages JOIN documents ON documents.id = document_id"
    versions: dict[str, set[str]] = {}
    with closing(sqlite3.connect(project.file)) as connection:
        for path, text in connection.execute(statement):
            versions.setdefault(path, set()).update(VERSIONS & set(text.split()))
    return versions


def assert_sound(project: Indexed) -> None:
    """The database has no fault, and its words are those of its passages."""
    with closing(sqlite3.connect(project.file)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        connection.execute("INSERT INTO passage_words (passage_words) VALUES ('integrity-check')")
        passages = connection.execute("SELECT id, heading, text FROM passages").fetchall()
        for word in VERSIONS:
            expected = {key for key, *texts in passages if word in terms(" ".join(texts))}
            found = connection.execute("SELECT rowid FROM passage_words WHERE passage_words MATCH ?", (word,))
            assert {row[0] for row in found} == expected


def start_writer(project: Indexed) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WRITER, str(project.root), str(TESTS)]
    writer = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert writer.stdout is not None
    assert writer.stdout.readline() == "ready\n"
    return writer


@pytest.mark.slow
def test_a_writer_killed_at_random_points_leaves_every_file_old_or_new(project: Indexed):
    chance, count = random.Random(23), 100
    project.write(files("aardvark", count))
    project.update("files")
    project.write(files("zebra", count))
    begun = time.monotonic()
    start_writer(project).communicate()
    whole_s = time.monotonic() - begun
    for point in range(40 if WEEKLY else 20):
        version = "zebra" if point % 2 else "aardvark"
        project.write(files(version, count))
        with start_writer(project) as writer:
            time.sleep(chance.uniform(whole_s / 2, whole_s))  # the point, after the start of Python
            writer.kill()
        assert_sound(project)
        found = [tuple(versions) for versions in written(project).values()]
        assert {len(versions) for versions in found} == {1}
        project.update("files")
        assert_sound(project)
        assert list(written(project).values()) == [{version}] * count
