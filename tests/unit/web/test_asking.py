"""Answers from the project's files over HTTP, what people say of them, and replays."""

from pathlib import Path

import httpx2
import pytest

from promoting import ID, LINES, candidate, suggested, write_candidates
from serving import QUESTION, Served, events_in, served, until

LATER = "How long is the Nakdong river?"


def records(service: Served) -> list[bytes]:
    return [
        line
        for path in sorted((service.folder / "data" / "audit" / "own").glob("*.jsonl"))
        for line in path.read_bytes().splitlines()
    ]


def ask(client: httpx2.Client, question: str = QUESTION, **fields: object) -> dict:
    response = client.post("/api/ask", json={"question": question, **fields})
    assert response.status_code == 200
    return response.json()


def test_verify_replays_a_candidate_here_and_leaves_no_record(
    client: httpx2.Client, service: Served, entry_point, tmp_path: Path
):
    (tmp_path / "coreloop.yaml").write_text(f"replay: {{url: {service.url}/api/ask}}\n")
    body = "\n".join((LINES[0], "- Call: retrieve(query)."))
    proposal = candidate(
        engine="retrieve",
        axis=None,
        tool_pattern=[{"name": "retrieve", "selectors": {}, "arg_keys": ["query"]}],
        example_questions=[QUESTION],
        suggested_append=suggested(target_symbol="retrieve", body=body),
    )
    write_candidates(tmp_path / "c.json", proposal)
    code, out, errors = entry_point(tmp_path, "verify", "--candidate", "c.json", "--id", ID)
    assert (code, errors) == (0, ""), errors
    agreed = "".join(f"run {number}: agrees\n" for number in (1, 2, 3))
    assert out == f"{agreed}{ID}: reproduced\n"
    replays = client.get("/runs", params={"kind": "ask", "limit": 3}).json()["runs"]
    assert {run["question"] for run in replays} == {QUESTION}
    assert not [run for run in replays if run["run_id"].encode() in b"".join(records(service))]


@pytest.mark.slow
def test_a_rejected_answer_gets_another_one_when_there_is_evidence(tmp_path: Path):
    with served(tmp_path) as service, service.client() as client:
        rejected = ask(client, LATER)
        assert not rejected["supported"]
        (tmp_path / "docs" / "nakdong.md").write_text(
            "# Nakdong\n\nThe Nakdong river is 510 kilometres long.\n"
        )
        said = client.post("/feedback", json={"id": rejected["request_id"], "value": "down", "reason": "<b>"})
        assert said.status_code == 200
        with client.stream("GET", f"/feedback/{rejected['request_id']}/events") as response:
            *_, last = events_in(response.iter_lines())
        assert "510 kilometres" in last.data["response"]["final_answer"]
        notice = until(lambda: client.get(f"/feedback/{rejected['request_id']}").json())
        assert (notice["kind"], notice["answer"]["supported"]) == ("answer", True)
        again = {"Last-Event-ID": str(last.id)}
        events = client.get(f"/feedback/{rejected['request_id']}/events", headers=again)
        assert events.status_code == 204  # a browser's EventSource ends
        assert client.get("/feedback/nobody").json()["kind"] == "none"
        assert client.get("/feedback/nobody/events").status_code == 404
