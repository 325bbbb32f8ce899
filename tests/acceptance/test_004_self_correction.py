"""What document 004 of the specification promises, a test a row."""

import json
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2
import jsonschema
import pytest

from acceptance.asking import NO_EVIDENCE, ask_with, indexed, settle
from acceptance.walk import REPO, Done, command
from serving import Served, served

SHIP = "Within how many working days does a parcel ship?"
RETURN = "Within how many days can a parcel be returned?"
MARS = "Who won the chess tournament on Mars?"
RETURNS = "# Returns\n\nA parcel can be returned within 30 days after delivery.\n"
SHIPPING = "# Shipping\n\nA parcel ships within 2 working days after payment.\n"
ULID = re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}")


def shop(folder: Path, **later: str) -> Path:
    """A project whose settings name docs/returns.md, and further files, which a repair has to find."""
    indexed(folder, {"returns.md": RETURNS})
    settle(folder, search={"paths": ["docs/returns.md"]})
    for name, text in {"docs/shipping.md": SHIPPING, **later}.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def ask(folder: Path, question: str, *words: str, **environ: str) -> dict[str, Any]:
    """Ask; the exit code is 0 for an answer, and 1 if nothing says so."""
    done = command(folder, "ask", question, *words, "--json", **environ)
    answer: dict[str, Any] = json.loads(done.out)
    done.assert_code(0 if answer["supported"] else 1)
    return answer


def listed(folder: Path, *words: str, **environ: str) -> list[dict[str, Any]]:
    return json.loads(command(folder, *words, "--json", **environ).assert_code().out)


def shown(folder: Path) -> dict[str, list[dict[str, Any]]]:
    return json.loads(command(folder, "repair", "show", "--json").assert_code().out)


def jobs(folder: Path, **environ: str) -> dict[str, dict[str, Any]]:
    return {job["name"]: job for job in listed(folder, "jobs", "show", **environ)}


def rows(folder: Path, table: str) -> list[dict[str, Any]]:
    with closing(sqlite3.connect(folder / "data/runs/coreloop.db")) as connection:
        connection.row_factory = sqlite3.Row
        return [dict(row) for row in connection.execute(f"SELECT * FROM {table}")]


def signals(folder: Path) -> list[dict[str, Any]]:
    """Every message of type feedback.signal that the project's stores keep, oldest first."""
    found = {}
    for path in (folder / "data/runs").glob("*.db"):
        with closing(sqlite3.connect(path)) as connection:
            tables = [
                name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            ]
            cells = [
                cell
                for table in tables
                for row in connection.execute(f"SELECT * FROM {table}")
                for cell in row
            ]
        found.update({signal["id"]: signal for cell in cells for signal in _signals_in(cell)})
    return [found[key] for key in sorted(found)]


def _signals_in(cell: object) -> Iterator[dict[str, Any]]:
    text = cell.decode(errors="replace") if isinstance(cell, bytes) else cell
    if not isinstance(text, str) or '"feedback.signal"' not in text:
        return
    todo = [json.loads(text)]
    while todo:
        value = todo.pop()
        if isinstance(value, dict):
            if value.get("type") == "feedback.signal":
                yield value
            todo.extend(value.values())
        elif isinstance(value, list):
            todo.extend(value)


def reply(answer: str) -> str:
    return json.dumps({"intent": "find", "answer": answer, "citations": [], "confidence": 0.9})


@pytest.fixture(scope="module")
def unrepaired(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """A question that failed, whose jobs wait."""
    folder = shop(tmp_path_factory.mktemp("unrepaired"))
    return folder, ask(folder, SHIP, "--no-repair")


@pytest.fixture(scope="module")
def repaired(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Done]:
    """A question that failed first, was repaired and answered."""
    folder = shop(tmp_path_factory.mktemp("repaired"))
    return folder, command(folder, "ask", SHIP, "--json").assert_code()


# --- Signals ----------------------------------------------------------------------------------------


@pytest.mark.promise("004-1")
def test_01_an_answer_without_evidence_is_insufficient_evidence(
    unrepaired: tuple[Path, dict[str, Any]],
) -> None:
    folder, answer = unrepaired
    assert (answer["final_answer"], answer["signals"]) == (NO_EVIDENCE, ["insufficient_evidence"])
    assert signals(folder)[0]["payload"]["reason"] == "insufficient_evidence"


@pytest.mark.promise("004-1", "004-7")
def test_01_a_model_that_cites_nothing_is_asked_strictly_and_then_another_one_is(tmp_path: Path) -> None:
    folder = shop(tmp_path)
    uncited = reply("A parcel can be returned within 30 days after delivery.")
    cited = reply("A parcel can be returned within 30 days after delivery. [1]")
    asked = ask_with(folder, uncited, uncited, cited, question=RETURN, models=("lab:m", "lab:n"))
    assert asked.answer["signals"] == ["citation_missing", "citation_missing"]
    assert [body["model"] for body in asked.bodies] == ["m", "m", "n"]
    assert asked.system(1) != asked.system(0) or asked.material(1) != asked.material(0)
    assert asked.answer["final_answer"].endswith(
        "A parcel can be returned within 30 days after delivery. [1]"
    )


@pytest.mark.promise("004-2")
def test_02_a_search_without_a_hit_is_a_search_miss(tmp_path: Path) -> None:
    folder = shop(tmp_path)
    assert ask(folder, MARS)["signals"] == ["search_miss"]
    assert [signal["payload"]["reason"] for signal in signals(folder)] == ["search_miss"]


def falls(folder: Path) -> list[dict[str, Any]]:
    """The gates of a day on which three indexed files changed and lost their docstrings."""
    first = listed(folder, "repair", "gates")
    assert [gate["signal"] for gate in first] == [None, None]
    yesterday = str(datetime.now(UTC).date() - timedelta(days=1))
    with closing(sqlite3.connect(folder / "data/runs/coreloop.db")) as connection, connection:
        connection.execute("UPDATE gate_snapshots SET day = ?", (yesterday,))
    for number in range(3):
        (folder / f"known_{number}.py").write_text("def known(key: str) -> str:\n    return key\n")
    return listed(folder, "repair", "gates")


KNOWN = '''def known(key: str) -> str:
    """Look up.

    Parameters
    ----------
    key : str
        Id.

    Returns
    -------
    str
        Text.
    """
    return key
'''


@pytest.mark.promise("004-3")
def test_03_a_gate_that_fell_since_yesterday_is_a_signal(tmp_path: Path) -> None:
    for number in range(3):
        (tmp_path / f"known_{number}.py").write_text(KNOWN)
    command(tmp_path, "index").assert_code()
    found = {gate["now"]["gate"]: gate for gate in falls(tmp_path)}
    assert {gate: reading["signal"] for gate, reading in found.items()} == {
        "coverage": "coverage_drop",
        "io": "io_gate_drop",
    }
    assert {signal["payload"]["source"] for signal in signals(tmp_path)} == {"gate"}
    queued = {(job["name"], job["payload"]["recursive"]) for job in listed(tmp_path, "jobs", "show")}
    assert queued == {("index.module", True)}


@pytest.mark.promise("004-4")
def test_04_a_thumb_down_is_kept_with_its_reason_and_is_a_signal(tmp_path: Path) -> None:
    folder = shop(tmp_path)
    answer = ask(folder, RETURN)
    command(folder, "feedback", "last", "down", "--reason", "It is 60 days since May").assert_code()
    (row,) = rows(folder, "feedback")
    assert (row["message_id"], row["kind"], row["reason"]) == (
        answer["run_id"],
        "down",
        "It is 60 days since May",
    )
    assert "thumbs_down" in {signal["payload"]["reason"] for signal in signals(folder)}
    (verdicts,) = (folder / "data/audit/judgments").glob("*.jsonl")
    (verdict,) = map(json.loads, verdicts.read_text(encoding="utf-8").splitlines())
    assert verdict["cause"] == "It is 60 days since May"


# --- Actions ----------------------------------------------------------------------------------------


FEE = '''"""Parcels."""

from parts.numbers import n1


def parcel_fee(weight):
    """Fee of a parcel by ferry."""
    return n1(weight)
'''
NUMBERS = '''"""Numbers."""

FIRST = {lines}


def n1(weight):
    """The ferry surcharge of a parcel is 12 euros."""
    return 12
'''.format(lines="\n".join(f"{number} + \\" for number in range(400)) + "\n0")

IMPORTING = {"z_fee.py": FEE, "parts/__init__.py": "", "parts/numbers.py": NUMBERS}
SURCHARGE = "How many euros is the ferry surcharge of a parcel?"


@pytest.fixture(scope="module")
def followed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """A question whose answer a file imports that is likely after five others."""
    others = {f"docs/ferry_{n}.md": "# Ferry surcharge\n\nParcels go by ferry.\n" for n in range(5)}
    folder = shop(tmp_path_factory.mktemp("followed"), **others, **IMPORTING)
    return folder, ask(folder, SURCHARGE)


@pytest.mark.promise("004-5", "004-15")
def test_05_index_file_is_followed_by_index_module(followed: tuple[Path, dict[str, Any]]) -> None:
    folder, answer = followed
    assert "12 euros" in answer["final_answer"]
    assert answer["repairs"] == 2
    assert {"index.file", "index.module"} <= jobs(folder).keys()


@pytest.mark.promise("004-5")
def test_05_index_module_follows_the_file_that_index_file_read(tmp_path: Path) -> None:
    folder = shop(tmp_path, **IMPORTING)
    answer = ask(folder, SURCHARGE)
    assert jobs(folder)["index.file"]["payload"] == {"path": "z_fee.py"}
    assert "12 euros" in answer["final_answer"]


@pytest.mark.promise("004-6")
def test_06_evidence_is_injected_by_the_path_of_its_file(unrepaired: tuple[Path, dict[str, Any]]) -> None:
    folder, answer = unrepaired
    job = jobs(folder)["evidence.inject"]
    assert job["payload"] == {"run": answer["run_id"], "path": "docs/shipping.md"}


@pytest.mark.promise("004-6")
def test_06_injected_evidence_is_a_snippet_of_the_file(repaired: tuple[Path, Done]) -> None:
    (row,) = [row for row in rows(repaired[0], "evidence") if row["kind"] == "local_file"]
    assert row["content"] in SHIPPING


TABLES = "CREATE TABLE customers (\n    id text PRIMARY KEY,\n    rate numeric -- share of the price\n);\n"


def suggestions(folder: Path, name: str, docstring: str, question: str) -> list[dict[str, Any]]:
    """What a failed question about a function beside a declared table suggests."""
    indexed(folder, {"returns.md": RETURNS})
    (folder / "tables.sql").write_text(TABLES)
    (folder / "code.py").write_text(
        f'"""Code."""\n\n\ndef {name}(customer):\n    """{docstring}"""\n    return 0.15\n'
    )
    settle(folder, schemas=["tables.sql"])
    command(folder, "index", "tables.sql", "code.py").assert_code()
    ask(folder, question)
    return shown(folder)["suggestions"]


@pytest.mark.promise("004-8")
def test_08_a_link_to_a_schema_is_pending_until_a_person_applies_it(tmp_path: Path) -> None:
    (found,) = suggestions(tmp_path, "rate", "Read a customer's row.", "Which currency does rate use?")
    assert (found["action"], found["status"]) == ("schema.link.suggest", "pending")
    assert "code.py::rate" in json.dumps(found)
    assert "tables.sql#customers.rate" in json.dumps(found)
    command(tmp_path, "repair", "apply", found["id"]).assert_code()
    (applied,) = rows(tmp_path, "fix_suggestions")
    assert applied["status"] == "applied"


@pytest.mark.promise("004-8")
def test_08_a_link_is_suggested_between_different_names(tmp_path: Path) -> None:
    docstring = "Read the column rate of the table customers."
    found = suggestions(tmp_path, "load_discount", docstring, "Which currency does load_discount use?")
    assert [suggestion["action"] for suggestion in found] == ["schema.link.suggest"]


# --- Jobs, tables, messages -------------------------------------------------------------------------


@pytest.mark.promise("004-9")
def test_09_jobs_are_in_a_sqlite_file_and_done_by_another_process(tmp_path: Path) -> None:
    folder = shop(tmp_path)
    ask(folder, SHIP, "--no-repair")
    assert (folder / "data/runs/coreloop.db").is_file()
    assert {job["status"] for job in jobs(folder).values()} == {"queued"}
    command(folder, "jobs", "work", "--until-idle").assert_code()
    assert {job["status"] for job in jobs(folder).values()} == {"done"}


@pytest.mark.slow
@pytest.mark.promise("004-9")
def test_09_jobs_are_in_postgres_if_its_address_is_given(tmp_path: Path, database: str) -> None:
    folder = shop(tmp_path)
    environ = {"CORELOOP_DATABASE_URL": database}
    ask(folder, SHIP, "--no-repair", **environ)
    assert {"index.file", "evidence.inject"} <= jobs(folder, **environ).keys()
    assert not (folder / "data/runs/coreloop.db").exists()
    command(folder, "jobs", "work", "--until-idle", **environ).assert_code()
    assert {job["status"] for job in jobs(folder, **environ).values()} == {"done"}
    assert ask(folder, SHIP, **environ)["supported"]


@pytest.mark.promise("004-21")
def test_21_jobs_have_the_payloads_of_the_document(followed: tuple[Path, dict[str, Any]]) -> None:
    found = {name: job["payload"] for name, job in jobs(followed[0]).items()}
    assert found["index.file"].keys() == {"path"}
    assert found["index.module"] == {"path": found["index.module"]["path"], "recursive": True}


COLUMNS = {
    "feedback": {"chat_id", "message_id", "kind", "reason", "created_at"},
    "knowledge_gaps": {"topic", "file", "symbol", "reason", "created_at"},
    "fix_suggestions": {"action", "target", "details", "status", "created_at"},
}


@pytest.mark.promise("004-10")
@pytest.mark.parametrize("table", COLUMNS)
def test_10_a_table_has_the_columns_of_the_document(repaired: tuple[Path, Done], table: str) -> None:
    with closing(sqlite3.connect(repaired[0] / "data/runs/coreloop.db")) as connection:
        columns = {row[1] for row in connection.execute(f"PRAGMA table_info({table})")}
    assert columns >= COLUMNS[table]


@pytest.mark.promise("004-11")
def test_11_a_signal_is_an_envelope_with_a_ulid_and_a_payload(repaired: tuple[Path, Done]) -> None:
    (signal,) = signals(repaired[0])
    schema = json.loads((REPO / "docs/schemas/MESSAGE_SCHEMA_V1.json").read_text(encoding="utf-8"))
    jsonschema.validate(signal, schema)
    assert signal.keys() == {"id", "type", "timestamp", "trace_id", "payload"}
    assert ULID.fullmatch(signal["id"])
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", signal["timestamp"])
    payload = signal["payload"]
    assert payload.keys() == {"source", "session_id", "reason", "context"}
    assert payload["source"] in {"chat", "critic", "gate"}
    assert payload["context"].keys() == {"file", "symbol"}


@pytest.mark.slow
@pytest.mark.promise("004-11")
def test_11_a_signal_has_the_trace_of_its_request(client: httpx2.Client, service: Served) -> None:
    response = client.post("/ask", json={"question": MARS})
    trace = response.headers["x-trace-id"]
    own = [signal for signal in signals(service.folder) if signal["payload"]["reason"] == "search_miss"]
    assert own
    assert own[-1]["trace_id"] == trace


# --- The flow ---------------------------------------------------------------------------------------


@pytest.mark.promise("004-12", "004-15")
def test_12_a_failed_answer_is_repaired_answered_and_learnt_from(repaired: tuple[Path, Done]) -> None:
    folder, done = repaired
    answer = json.loads(done.out)
    assert done.errors.splitlines() == [
        "no source says so yet",
        "  index.file docs/shipping.md: done",
        "  evidence.inject docs/shipping.md: done",
    ]
    assert "A parcel ships within 2 working days after payment. [1]" in answer["final_answer"]
    assert (answer["supported"], answer["repairs"]) == (True, 1)
    found = command(folder, "search", "parcel ships working days").assert_code().out
    assert "docs/shipping.md" in found


@pytest.mark.promise("004-13", "004-22")
def test_13_the_prompt_asks_for_json_only_and_names_the_schema(tmp_path: Path) -> None:
    asked = ask_with(
        shop(tmp_path), reply("A parcel can be returned within 30 days after delivery. [1]"), question=RETURN
    )
    assert "Return only JSON. No prose." in asked.system(0)
    assert asked.schemas == ["LlmResponse"]
    schema = json.loads((REPO / "docs/schemas/LLM_RESPONSE_JSON_V1.json").read_text(encoding="utf-8"))
    assert schema["title"] == "LlmResponse"
    jsonschema.validate(json.loads(reply("x")), schema)


@pytest.mark.promise("004-13")
def test_13_a_wrong_reply_is_corrected_then_another_model_is_asked_then_an_event_follows(
    tmp_path: Path,
) -> None:
    folder = shop(tmp_path)
    asked = ask_with(folder, *["no JSON"] * 30, question=RETURN, models=("lab:m", "lab:n"))
    models = [body["model"] for body in asked.bodies]
    assert models[:4] == ["m", "m", "n", "n"]
    assert "no JSON" in json.dumps(asked.bodies[1]["messages"])
    assert "contract_invalid" in {signal["payload"]["reason"] for signal in signals(folder)}


@pytest.mark.promise("004-14")
def test_14_the_second_ask_of_a_question_is_answered_with_a_citation(tmp_path: Path) -> None:
    folder = shop(tmp_path)
    first = ask(folder, SHIP, "--no-repair")
    command(folder, "jobs", "work", "--until-idle").assert_code()
    second = ask(folder, SHIP, "--no-repair")
    assert (first["supported"], second["supported"]) == (False, True)
    assert [source["location"] for source in second["sources"]] == ["docs/shipping.md"]


@pytest.mark.promise("004-16")
def test_16_a_thumb_down_is_answered_by_a_better_answer(tmp_path: Path) -> None:
    folder = shop(tmp_path)
    ask(folder, SHIP, "--no-repair")
    better = command(folder, "feedback", "last", "down").assert_code()
    assert "A parcel ships within 2 working days after payment. [1]" in better.out


@pytest.mark.promise("004-16")
def test_16_a_thumb_down_without_other_evidence_is_answered_by_a_notice(tmp_path: Path) -> None:
    folder = indexed(tmp_path, {"returns.md": RETURNS})
    ask(folder, RETURN)
    notice = command(folder, "feedback", "last", "down").assert_code()
    assert "no other evidence was found; a gap is noted" in notice.out


@pytest.mark.promise("004-16")
def test_16_no_evidence_is_no_improved_answer_and_does_not_close_the_gap(tmp_path: Path) -> None:
    folder = indexed(tmp_path, {"returns.md": RETURNS})
    ask(folder, RETURN)
    notice = command(folder, "feedback", "last", "down", "--json").assert_code()
    assert "no other evidence was found" in notice.out
    assert NO_EVIDENCE not in notice.out
    (gap,) = shown(folder)["gaps"]
    ask(folder, RETURN)
    assert [left["id"] for left in shown(folder)["gaps"]] == [gap["id"]]


# --- Metrics ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = shop(tmp_path_factory.mktemp("service"))
    listed(folder, "repair", "gates")
    with served(folder) as service:
        yield service


@pytest.fixture(scope="module")
def client(service: Served) -> Iterator[httpx2.Client]:
    with service.client() as client:
        answer = client.post("/ask", json={"question": SHIP}).json()
        client.post("/feedback", json={"id": answer["run_id"], "value": "down", "reason": "too old"})
        yield client


@pytest.mark.slow
@pytest.mark.promise("004-4")
def test_04_a_thumb_down_over_http_is_kept_with_its_reason(service: Served, client: httpx2.Client) -> None:
    (row,) = rows(service.folder, "feedback")
    assert (row["kind"], row["reason"]) == ("down", "too old")


@pytest.mark.slow
@pytest.mark.promise("004-17")
def test_17_evidence_hits_by_source_are_at_the_series_route(client: httpx2.Client) -> None:
    response = client.get("/api/metrics/cbo/series")
    assert response.status_code == 200
    assert "evidence" in response.text


@pytest.mark.slow
@pytest.mark.promise("004-18")
def test_18_snapshots_of_the_gates_are_at_the_series_route(client: httpx2.Client) -> None:
    text = client.get("/api/metrics/cbo/series").text
    assert str(datetime.now(UTC).date()) in text
    assert '"coverage"' in text
    assert '"io"' in text


@pytest.mark.slow
@pytest.mark.promise("004-19")
def test_19_the_number_of_feedbacks_and_the_rate_of_retries_are_metrics(client: httpx2.Client) -> None:
    names = set(re.findall(r"^# TYPE (\S+)", client.get("/metrics").text, re.MULTILINE))
    assert names
    assert {word for word in ("feedback", "retr") if any(word in name for name in names)} == {
        "feedback",
        "retr",
    }


@pytest.mark.promise("004-23")
def test_23_each_failed_attempt_is_in_the_record_with_its_cause(repaired: tuple[Path, Done]) -> None:
    (path,) = (repaired[0] / "data/audit/own").glob("*.jsonl")
    (line,) = path.read_text(encoding="utf-8").splitlines()
    failed, last = json.loads(line)["tool_calls"]
    assert (failed["ok"], last["ok"]) == (False, True)
    assert failed["error"].startswith("insufficient_evidence")
