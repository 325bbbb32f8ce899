"""A disk on which no file can grow: what only reads still answers."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from researching import project

SEARCH = """
import resource, sys
from datetime import UTC, datetime
from pathlib import Path
from coreloop.answer.search.index.search_index import search_index
resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))  # as a full disk, for this process
for _ in range(2):  # the first leaves empty files behind
    found = search_index(Path(sys.argv[1]), "Han river")
    print(found[0].location)
"""


@pytest.mark.skipif(os.name != "posix", reason="needs limits of a process")
def test_a_search_of_the_index_needs_no_room(tmp_path: Path):
    index = project(tmp_path).index_file
    for end in ("-wal", "-shm"):
        index.with_name(index.name + end).unlink(missing_ok=True)
    ended = subprocess.run([sys.executable, "-c", SEARCH, str(index)], capture_output=True, check=False)
    assert (ended.stdout.split(), ended.stderr) == ([b"docs/han.md"] * 2, b"")
