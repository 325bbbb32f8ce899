"""``ask``, ``feedback`` and ``repair`` from the outside."""

import json
from math import inf
from pathlib import Path

import pytest

from coreloop.answer.research import asking
from repairing import RETURN_QUESTION, shop


@pytest.fixture
def place(tmp_path: Path) -> Path:
    shop(tmp_path)
    return tmp_path


def ask(place: Path, entry_point, question: str, *more: str) -> dict:
    code, out, _ = entry_point(place, "ask", question, "--json", *more)
    answer = json.loads(out)
    assert code == (0 if answer["supported"] else 1)
    return answer


def test_a_search_that_was_down_is_no_answer(place: Path, entry_point):
    settings = "search: {providers: [searxng], searxng_url: 'http://127.0.0.1:9'}\n"
    (place / "coreloop.yaml").write_text(settings, encoding="utf-8")
    code, out, errors = entry_point(place, "ask", RETURN_QUESTION)
    assert (code, "nothing said so" in out) == (4, False)
    assert errors.splitlines()[-1].startswith("the search was down: searxng")


def test_a_model_that_cannot_be_reached_is_an_error_for_programs_too(
    place: Path, entry_point, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(asking, "_WAITS_S", (0.0, 0.0, inf))
    settings = "model: local:m\nendpoints: {local: {url: 'http://127.0.0.1:9/v1'}}\n"
    (place / "coreloop.yaml").write_text(settings, encoding="utf-8")
    code, out, errors = entry_point(place, "ask", RETURN_QUESTION, "--json")
    assert (code, json.loads(out)["error"]["type"]) == (5, "unavailable")
    assert "cannot be reached" in errors


def test_feedback_names_the_last_answer(place: Path, entry_point):
    assert entry_point(place, "feedback", "last", "up")[0] == 2
    run_id = ask(place, entry_point, RETURN_QUESTION)["run_id"]
    assert entry_point(place, "feedback", "last", "0.8") == (0, f"up: noted for {run_id}\n", "")
    code, out, _ = entry_point(place, "feedback", run_id, "down", "--json")
    assert (code, json.loads(out)["feedback"]["kind"]) == (0, "down")
    assert json.loads(out)["notice"]["kind"] == "answer"


def test_feedback_can_wait_for_a_worker(place: Path, entry_point):
    run_id = ask(place, entry_point, RETURN_QUESTION)["run_id"]
    code, out, _ = entry_point(place, "feedback", run_id, "down", "--later")
    assert (code, out.splitlines()[1]) == (0, "the repair waits for a worker: dartlab-coreloop jobs work")


def test_gaps_are_listed_and_closed_on_a_narrow_screen(
    place: Path, entry_point, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("COLUMNS", "80")
    for planet in ("Mars", "Venus"):
        ask(place, entry_point, f"Who won the second chess tournament of the new colonies on {planet}?")
    first, last = json.loads(entry_point(place, "repair", "show", "--json")[1])["gaps"]
    listed, runs = (entry_point(place, *words)[1] for words in (["repair", "show"], ["runs", "list"]))
    assert max(map(len, (listed + runs).splitlines())) <= 80
    assert runs.count("no answer") == 2
    assert "and 1 more: --limit 2" in entry_point(place, "repair", "show", "--limit", "1")[1]
    closing = entry_point(place, "repair", "show", "--close", first["id"])
    assert closing == (0, f"{first['id']}  closed; 1 gap left\n", "")
    assert last["id"] in entry_point(place, "repair", "show")[1]


def test_a_user_who_only_asks_is_told_how_many_gaps_are_open(place: Path, entry_point):
    (place / "coreloop.yaml").unlink(missing_ok=True)
    ask(place, entry_point, RETURN_QUESTION)
    todo = "dartlab-coreloop ask QUESTION"
    assert entry_point(place)[1] == f"questions  1 asked, 0 gaps open\nnext       {todo}\n"
    ask(place, entry_point, "Who won the chess tournament on Mars?")
    todo = "dartlab-coreloop repair show"
    assert entry_point(place)[1] == f"questions  2 asked, 1 gap open\nnext       {todo}\n"
    lines = entry_point(place, "status")[1].splitlines()
    assert [line.split(maxsplit=1) for line in lines[:2]] == [
        ["questions", "2 asked, 1 gap open"],
        todo.split(" ", 1),
    ]


@pytest.mark.parametrize("words", [(), ("status",)])
def test_a_store_that_fails_is_named_and_hides_nothing_else(
    words: tuple[str, ...], tmp_path: Path, entry_point
):
    (tmp_path / "coreloop.yaml").touch()
    (tmp_path / "data" / "runs").mkdir(parents=True)
    (tmp_path / "data" / "runs" / "coreloop.db").write_bytes(b"no database " * 99)
    code, out, errors = entry_point(tmp_path, *words)
    assert (code, "records" in out) == (0, True)
    assert "questions unknown: " in errors
    assert "coreloop.db" in errors
