"""What coreloop itself is asked stays apart from the agent's records."""

import json
from pathlib import Path

import pytest

QUESTION = "How long is a room booked?"


@pytest.fixture
def asked(tmp_path: Path, entry_point) -> Path:
    """A project whose documentation was asked once by each command."""
    (tmp_path / "rooms.md").write_text("A room is booked for at most four hours.\n", encoding="utf-8")
    entry_point(tmp_path, "index", ".")
    for command in ("ask", "research"):
        entry_point(tmp_path, command, QUESTION)
    return tmp_path


def own_records(root: Path) -> list[dict]:
    files = sorted((root / "data" / "audit" / "own").glob("*.jsonl"))
    return [json.loads(line) for file in files for line in file.read_bytes().splitlines()]


def test_questions_to_coreloop_are_recorded_apart_from_the_agent_s(asked: Path):
    assert {(record["skill_used"], record["question"]) for record in own_records(asked)} == {
        ("ask", QUESTION),
        ("research", QUESTION),
    }
    assert not list((asked / "data" / "audit").glob("ai-ask/*.jsonl"))


def test_they_are_mined_only_from_their_own_folder(asked: Path, entry_point):
    (asked / "data" / "audit" / "ai-ask").mkdir(parents=True, exist_ok=True)

    def n_records(*options: str) -> int:
        status = json.loads(entry_point(asked, "status", "--json", *options)[1])
        return status["log"]["n_records"]

    assert (n_records(), n_records("--in-dir", "data/audit/own")) == (0, 2)
