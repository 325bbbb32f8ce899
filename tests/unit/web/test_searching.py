"""Where nothing can be written, ``/search`` answers from what was read before, and ``/readyz`` fails."""

import resource
import sys
from pathlib import Path

import pytest

from researching import project
from serving import asked, served, until

_LIMIT_BYTES, _LESS = 300_000, 20_000
"""The log of the service stays below, the journal of an index that gains a megabyte, or of runs, does not."""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits the files of another process")
def test_on_a_full_disk_it_answers_from_the_index_as_it_was_and_says_so(tmp_path: Path):
    project(tmp_path)
    with served(tmp_path) as service, service.client() as client:
        before = client.post("/search", json={"query": "Han"}).json()
        assert before["sources"]
        assert before["note"] == ""
        words = " ".join(f"word{number}" for number in range(150_000))
        (tmp_path / "docs" / "new.md").write_text(f"# Han, at length\n\n{words}\n")
        resource.prlimit(service.process.pid, resource.RLIMIT_FSIZE, (_LIMIT_BYTES, resource.RLIM_INFINITY))
        for _ in range(2):
            answer = client.post("/search", json={"query": "Han"})
            assert answer.status_code == 200
            assert answer.json()["sources"] == before["sources"]
            assert answer.json()["note"].startswith("1 changed file not read yet: the index cannot")
        resource.prlimit(service.process.pid, resource.RLIMIT_FSIZE, (_LESS, resource.RLIM_INFINITY))
        assert asked(client).status_code == 503
        until(lambda: client.get("/readyz").status_code == 503)
        unlimited = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
        resource.prlimit(service.process.pid, resource.RLIMIT_FSIZE, unlimited)
        until(lambda: client.get("/readyz").status_code == 200)
        after = client.post("/search", json={"query": "Han, at length"}).json()
        assert after["note"] == ""
        assert after["sources"][0]["location"] == "docs/new.md"
