"""The same four requests in every format of agents' files; and files that are named, but not read."""

import json
from pathlib import Path

import pytest

from agent_traces import ARGS, REQUESTS, WRITERS, codex
from coreloop.observe.importers.agent_files import FORMATS
from coreloop.observe.importers.files import find_trace_files
from coreloop.observe.importers.recognition import Recognised, recognise
from foreign_traces import recorded, requests, skips, write_lines


def sorted_by_format(*paths: Path) -> Recognised:
    return recognise(find_trace_files(paths, (), now_s=0))


@pytest.mark.parametrize("source", [agent.NAME for agent in FORMATS])
def test_the_same_four_requests(tmp_path: Path, source: str) -> None:
    path = write_lines(tmp_path / "log.jsonl", WRITERS[source]())
    assert sorted_by_format(path).formats == {source: 1}
    read = requests(source, path)
    has_questions = source != "mcp-log"
    assert [one.question for one in read] == [asked if has_questions else "" for _, asked, _, _ in REQUESTS]
    asked = [call for one in read for call in one.calls[:1]]
    made = [recorded(one)["tool_calls"][0] for one in read]
    assert [call.args for call in asked] == ARGS
    assert [call["ok"] for call in made] == [True, False, True, None]
    assert "limit" in str(made[1]["error"])
    assert [one.answer_chars for one in read] == ([5] * 4 if has_questions else [17, 32, 13, None])
    assert len({one.id for one in read}) == 4
    assert has_questions or len({one.session_id for one in read}) == 4  # a client connected anew for each


def test_a_session_of_codex_that_goes_on_in_another_file_counts_its_turns_once(tmp_path: Path) -> None:
    lines = codex()
    older = write_lines(tmp_path / "a.jsonl", lines)
    head = {**lines[0], "payload": {"id": "s-2", "forked_from_id": "s"}}
    again = json.loads(json.dumps(lines[2]).replace("A room, 0", "And tomorrow?"))
    newer = write_lines(tmp_path / "b.jsonl", [head, *lines[:-2], again, lines[-3]])
    ids = [one.id for one in requests("codex", older, newer)]
    assert (len(ids), len(set(ids))) == (9, 5)
    assert skips("codex", older) == ["torn or not JSON", "not of this format"]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "is empty"),
        (b"2026-04-25 INFO started\n", "is not JSON"),
        (b'{"level": "info"}\n', "is not of a known format"),
        (b"SQLite format 3\0\1\2", "is a SQLite database, which is not read"),
        (b"name,start_time,parent_id\na,b,c\n", "is a table (CSV)"),
        (b"# aider chat started at 2026-04-25", "is a chat history of Aider"),
        (b'{"type": "TOOL_BEGIN"}', "is a log with calls in lines of an"),
        (b"up\n{\n  resource: {\n    a: 1", "is the console's output of Open"),
        (b'{"custom_id": "a", "response": {"body": {}}}', "is a batch of OpenAI"),
        (b'{"request_id": "a", "tool_calls": []}', "is a log of coreloop"),
        (
            b'{"messages": [{"role": "user", "items": [{"content_type": "text"}]}]}',
            "is Semantic Kernel's chat history",
        ),
    ],
)
def test_a_file_that_is_not_read_is_named(tmp_path: Path, content: bytes, reason: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(content)
    [unread] = sorted_by_format(path).unread
    assert unread.reason.startswith(reason)
