"""Pages over HTTP: who may see and press what, and what protects them from other pages."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest

from coreloop.web.keys import new_key
from serving import Served, asked, served, until
from showing import words_of

KEYS = {
    name: new_key(name, [*scopes])
    for name, scopes in (
        ("reader", ("read",)),
        ("runner", ("read", "run")),
        ("judge", ("read", "review")),
    )
}
SECTIONS = ("ask", "runs", "review", "tools", "health")


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A service with keys."""
    folder: Path = tmp_path_factory.mktemp("guarded")
    entries = "\n".join(entry for _, entry in KEYS.values())
    with served(folder, environ={"CORELOOP_API_KEYS": entries}) as service:
        yield service


@contextmanager
def signed_in(service: Served, name: str) -> Iterator[httpx2.Client]:
    with service.client() as client:
        assert client.post("/ui/sign-in", data={"key": KEYS[name][0]}).status_code == 303
        yield client


def token(client: httpx2.Client, path: str = "/ui/ask") -> str:
    found = re.search(r'name="csrf" value="([0-9a-f]{64})"', client.get(path).text)
    assert found is not None
    return found[1]


@pytest.mark.parametrize("section", SECTIONS)
def test_each_page_is_served_and_loads_nothing_from_elsewhere(client: httpx2.Client, section: str):
    response = client.get(f"/ui/{section}")
    assert response.status_code == 200
    policy = response.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert "<style" not in response.text
    assert 'style="' not in response.text


@pytest.mark.parametrize(
    "path",
    ["/ui/nothing", "/ui/runs/x", "/ui/runs/..%2f..%2fetc", "/ui/static/..%2fframe.py", "/ui/ask/x/y"],
)
def test_what_is_not_there_is_a_page_that_says_so(client: httpx2.Client, path: str):
    response = client.get(path)
    assert response.status_code == 404
    assert "<h1>404</h1>" in response.text


@pytest.mark.parametrize("form", [{}, {"csrf": ""}, {"csrf": "0" * 64}, {"csrf": "é"}])
def test_a_form_without_our_token_does_nothing(client: httpx2.Client, form: dict[str, str]):
    response = client.post("/ui/runs/stop", data={"id": "x", **form})
    assert response.status_code == 403
    assert "load the page again" in response.text


def test_a_button_with_our_token_is_pressed_and_a_wrong_id_is_one_sentence(client: httpx2.Client):
    asked(client, **{"async": True})
    response = client.post("/ui/health/cancel", data={"csrf": token(client), "id": "<b>no</b>"})
    assert response.status_code == 422
    assert "no job &lt;b&gt;no&lt;/b&gt;" in response.text


def test_readers_sign_in_with_a_key_and_out_again(guarded: Served):
    with guarded.client() as client:
        assert client.get("/ui/review").headers["location"] == "/ui/sign-in"
        assert client.get("/ui/sign-in").status_code == 200
        refused = client.post("/ui/sign-in", data={"key": "wrong"})
        assert refused.status_code == 403
        assert "no API key of this service" in refused.text
    with signed_in(guarded, "reader") as client:
        assert client.get("/ui/review").status_code == 200
        assert "Sign out (reader)" in client.get("/ui/review").text
        client.post("/ui/sign-out", data={"csrf": token(client)})
        assert client.get("/ui/review").status_code == 303


def test_the_cookie_is_kept_from_scripts_and_other_sites_and_does_not_have_the_key(guarded: Served):
    with guarded.client() as client:
        response = client.post("/ui/sign-in", data={"key": KEYS["reader"][0]})
        cookie = response.headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=strict" in cookie
        assert KEYS["reader"][0] not in cookie


@pytest.mark.parametrize(
    "change",
    [
        lambda name, until, mac: f"judge~{until}~{mac}",
        lambda name, until, mac: f"{name}~9{until}~{mac}",
        lambda name, until, mac: f"{name}~{until}~{mac[:-1]}",
        lambda name, until, mac: f"{name}~1~{mac}",
        lambda name, until, mac: f"{name}~~",
        lambda name, until, mac: "~" * 50,
    ],
)
def test_a_changed_cookie_is_no_sign_in(guarded: Served, change):
    with signed_in(guarded, "reader") as client:
        value = client.cookies["coreloop"].strip('"')
    with guarded.client(cookies={"coreloop": change(*value.split("~"))}) as client:
        assert client.get("/ui/review").status_code == 303


def test_the_api_accepts_the_cookie_for_reading_only(guarded: Served):
    with signed_in(guarded, "runner") as client:
        assert client.get("/runs").status_code == 200
        assert asked(client).status_code == 401
    with guarded.client(cookies={"coreloop": "runner~9999999999~0"}) as client:
        assert client.get("/runs").status_code == 401


@pytest.mark.parametrize(
    ("name", "path", "status"),
    [
        ("reader", "/ui/health/cancel", 403),
        ("reader", "/ui/review/judge", 403),
        ("runner", "/ui/health/cancel", 422),
        ("runner", "/ui/review/judge", 403),
        ("judge", "/ui/health/cancel", 403),
        ("reader", "/ui/ask/ask", 403),
        ("judge", "/ui/ask/wrong", 403),
        ("runner", "/ui/ask/ask", 422),
        ("runner", "/ui/ask/wrong", 404),
        ("judge", "/ui/review/judge", 422),
        ("judge", "/ui/review/nothing", 404),
    ],
)
def test_each_button_needs_its_scope(guarded: Served, name: str, path: str, status: int):
    with signed_in(guarded, name) as client:
        assert client.post(path, data={"csrf": token(client, "/ui/review"), "id": "x"}).status_code == status


def asked_on_the_page(client: httpx2.Client, question: str) -> str:
    """Ask a question; returns the address of its answer."""
    asked_at = client.post("/ui/ask/ask", data={"csrf": token(client), "question": question})
    until(lambda: "Go deeper" in client.get(asked_at.headers["location"]).text)
    return asked_at.headers["location"]


def test_a_question_is_asked_deepened_rejected_and_found_again(client: httpx2.Client):
    answer = asked_on_the_page(client, "When did Banpo open?")
    (sentence,) = re.findall(r'name="sentence" value="([^"]+)"', client.get(answer).text)
    form = {"csrf": token(client), "id": answer.rpartition("/")[2], "sentence": sentence}
    asking = {**form, "question": "When did  Banpo open?"}
    deeper = client.post("/ui/ask/deeper", data=asking).headers["location"]
    until(lambda: "Go deeper again" in client.get(answer).text)
    assert words_of(client.get(deeper).text) == words_of(client.get(answer).text)
    assert client.post("/ui/ask/deeper", data={**asking, "question": "Another?"}).status_code == 422
    form["reason"] = "<b>longer</b>"
    assert client.post("/ui/ask/wrong", data=form).headers["location"] == answer
    rejected = client.get(answer).text
    assert f"{sentence}\n&lt;b&gt;longer&lt;/b&gt;" in rejected
    assert '<p><span class="badge badge-fail">rejected</span>' in rejected
    assert "by user" not in client.get("/ui/review").text
    (mended,) = re.findall(r'href="(/ui/ask/[0-9A-Z]{26})">(?:follow it|What was)', rejected)
    assert f'<a href="{answer}">rejected answer</a>' in client.get(mended).text
    assert answer in client.get("/ui/ask?q=BANPO").text


def test_a_gap_leads_to_its_question_and_is_closed(client: httpx2.Client):
    answer = asked_on_the_page(client, "Who <i>won</i> on Mars?")
    gap, run = re.findall(r'href="/ui/ask/([0-9A-Z]{26})">Who &lt;i&gt;won', client.get("/ui/ask").text)
    assert words_of(client.get(f"/ui/ask/{gap}").text) == words_of(client.get(f"/ui/ask/{run}").text)
    shown = client.get(answer).text
    assert "Nothing in the project says so" in shown
    assert "/ui/ask/right" not in shown
    closed = client.post("/ui/ask/close", data={"csrf": token(client), "id": gap}).headers["location"]
    assert "The question is closed, by person" in client.get(closed).text


def test_either_side_of_a_contradiction_has_a_circle(service: Served, client: httpx2.Client):
    for days in (30, 60):
        page = service.folder / "docs" / f"boats_{days}.md"
        page.write_text(f"# Boats\n\nA boat is lent for {days} days.\n", encoding="utf-8")
    shown = client.get(asked_on_the_page(client, "For how many days is a boat lent?")).text
    assert len(re.findall(r'name="sentence" value="A boat is lent for \d+ days\. ', shown)) == 2


def test_an_answer_to_a_part_of_a_question_is_partly_answered_everywhere(client: httpx2.Client):
    question = "How long is the Han river and who won on Venus?"
    answer = asked_on_the_page(client, question)
    research = asked(client, task=question).json()["run_id"]
    for path in (answer, f"/ui/runs/{research}"):
        assert client.get(path).text.count("partly answered") == 2
    ends = [">partly answered (stopped: nothing new)</", ">partly answered</"]
    assert re.findall(">partly answered[^/]*/", client.get("/ui/runs").text) == ends


def test_a_form_that_is_sent_twice_asks_once_and_no_question_is_a_sentence_beside_its_field(
    client: httpx2.Client,
):
    form = {"csrf": token(client), "once": "a", "question": "How long is\r\nthe Rhine?"}
    first, again, other = (client.post("/ui/ask/ask", data={**form, "once": once}) for once in "aab")
    assert first.headers["location"] == again.headers["location"] != other.headers["location"]
    for question, said in (("", "1 to 10,000"), ("long " * 3000, "1 to 10,000"), ("?!", "no words to")):
        refused = client.post("/ui/ask/ask", data={**form, "question": question})
        assert (refused.status_code, f">{question}</textarea>" in refused.text) == (422, True)
        assert said in refused.text


def test_earlier_addresses_lead_to_what_has_them_now(client: httpx2.Client):
    moved = {"": "ask", "changes": "health", "errors": "tools", "work": "health"}
    assert {old: client.get(f"/ui/{old}").headers["location"][4:] for old in moved} == moved
