"""The pages in Chromium: by keyboard, live, accessible, at each size, with hostile text, without a script."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from browsing import SCREENS, chromium, needs_chromium, visit
from coreloop.base.project.workspace import open_workspace
from coreloop.observe.judgments import HumanVerdict, VerdictLetter, append_verdict, read_verdicts
from coreloop.web.pages.page_data import PageSource, open_source
from hostile import QUESTIONS
from logs import call, failed, record, write_log
from researching import project as write_project
from serving import QUESTION, Served, asked, held_search, served, until

pytestmark = [pytest.mark.slow, needs_chromium]
HOSTILE = [text.encode("utf-8", "replace").decode() for text in QUESTIONS]
PAGES = ("ask", "runs", "review", "tools", "health")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="module")
def shop(demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The demo's project, served, with a research and a question without an answer."""
    folder = shutil.copytree(demo, tmp_path_factory.mktemp("shop") / "shop")
    with served(folder) as service:
        with service.client() as client:
            asked(client)
            client.post("/ask", json={"question": "Who won on Mars?"})
        yield service


def paths(service: Served) -> list[str]:
    """A page of each kind."""
    with service.client() as client:
        run = client.get("/runs").json()["runs"][-1]["run_id"]
    items = ("review/ce-2026-04-25-002", f"runs/{run}", "tools/refund_order")
    return [f"/ui/{path}" for path in (*PAGES, *items)]


def given(folder: Path) -> list[str]:
    return [str(one.verdict) for one in read_verdicts(open_workspace(folder).judgments_dir).given]


def settled(page: Page, key: str) -> None:
    """Press a key that leads to another page."""
    with page.expect_navigation():
        page.keyboard.press(key)


def test_ten_items_are_judged_by_keyboard_and_the_last_one_taken_back(
    browser: Browser, demo: Path, tmp_path: Path
):
    folder = shutil.copytree(demo, tmp_path / "shop")
    with served(folder) as service, visit(browser, service.url) as visited:
        page = visited.go("/ui/review")
        page.keyboard.press("j")
        settled(page, "Enter")
        page.fill("#cause", "typed p t c v")  # keys in a field are text
        assert given(folder) == []
        page.get_by_role("link", name="Show the plan").click()
        page.wait_for_selector("[aria-label='The plan']")
        assert page.input_value("#cause") == "typed p t c v"
        for key in "ptcvtttttt":  # what has no text cannot be promoted
            settled(page, key)
        assert given(folder) == [*"PTCVTTTTTT"]
        settled(page, "u")
        assert given(folder) == [*"PTCVTTTTT"]
        assert visited.complaints == []


def test_a_run_is_followed_and_stopped(browser: Browser, tmp_path: Path):
    with held_search() as search, served(tmp_path, settings=search.settings) as service:
        with service.client() as client:
            run_id = asked(client, **{"async": True}).json()["run_id"]
        until(lambda: search.queries)
        with visit(browser, service.url) as visited:
            page = visited.go(f"/ui/runs/{run_id}")
            page.wait_for_selector("#events li")
            page.get_by_role("button", name="Pause").click()
            page.wait_for_selector("text=pausing after this iteration")
            page.get_by_role("button", name="Stop").click()
            page.wait_for_selector("text=stopped by a person")
            search.is_released.set()
            assert page.get_by_role("button", name="Stop").count() == 0


def test_an_answer_and_what_was_found_instead_come_by_themselves(browser: Browser, tmp_path: Path):
    with served(tmp_path) as service, visit(browser, service.url) as visited, service.client() as client:
        page = visited.go("/ui/ask")
        page.fill("#question", QUESTION)
        page.get_by_role("button", name="Ask", exact=True).dblclick()
        page.wait_for_selector("mark")
        page.get_by_role("button", name="Go deeper").click()
        page.get_by_role("button", name="Go deeper again").wait_for()
        assert page.locator(":checked").count() == 0
        page.get_by_role("button", name="Wrong").click()
        page.wait_for_selector("text=What was looked for instead")
        assert len(client.get("/runs").json()["runs"]) == 3


def test_a_citation_is_opened(browser: Browser, shop: Served):
    with visit(browser, shop.url) as visited:
        page = visited.go("/ui/runs")
        time = page.locator("time").first
        assert re.fullmatch(r"just now|\d+ (min|h) ago", time.inner_text())
        assert (time.get_attribute("title") or "").endswith(" UTC")
        page.get_by_role("link", name=QUESTION).first.click()
        page.get_by_role("link", name="[1]").first.click()
        assert (
            page.locator(".source:target mark").first.inner_text() == "The Han river is 494 kilometres long."
        )


def test_everything_works_without_a_script(browser: Browser, demo: Path, tmp_path: Path):
    folder = shutil.copytree(demo, tmp_path / "shop")
    with served(folder) as service, visit(browser, service.url, java_script_enabled=False) as visited:
        page = visited.go("/ui/review")
        page.locator("ol.items a").first.click()
        page.get_by_role("link", name="Show calls").click()
        assert page.locator("#calls li").count() >= 6
        page.get_by_role("link", name="Show the plan").click()
        assert "branch   skill/caveat-search-articles" in page.inner_text("[aria-label='The plan']")
        page.get_by_role("button", name="good enough").click()
        page.get_by_role("button", name="Take it back").click()
        assert given(folder) == []
        page = visited.go("/ui/ask")
        page.fill("#question", QUESTION)
        page.get_by_role("button", name="Ask", exact=True).click()
        page.get_by_role("button", name="Go deeper").click()
        page.wait_for_selector("text=it has enough")


@pytest.mark.parametrize(("width", "scheme"), SCREENS)
def test_pages_are_accessible_and_fit(browser: Browser, shop: Served, width: int, scheme: str):
    with visit(browser, shop.url, width=width, scheme=scheme, locale="ko-KR") as visited:
        for path in paths(shop):
            page = visited.go(path)
            found = Axe().run(page).response["violations"]
            assert [(one["id"], one["nodes"][0]["html"]) for one in found] == [], path
            assert not visited.is_wider_than_its_window, path
            assert width != 390 or visited.unfit_for_a_phone == [], path
        assert visited.complaints == []


@pytest.fixture(scope="module")
def attacked(demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A project where every text of others is hostile."""
    folder = shutil.copytree(demo, tmp_path_factory.mktemp("attacked") / "shop")
    with open_source(open_workspace(folder), {}) as source:
        _attack(source)
    rivers = {
        f"{number}.md": f"# Rhine {text}\n\nThe Rhine is {text}\n" for number, text in enumerate(HOSTILE)
    }
    write_project(folder, rivers)
    with served(folder) as service:
        yield service


def _attack(source: PageSource) -> None:
    workspace, now = source.workspace, source.now
    texts = ("question", "category", "model", "request_id")
    calls = [[call(text), failed(text, {text[:60]: text}, text)] for text in HOSTILE]
    log = [
        record(ts=now.isoformat(), tool_calls=calls[number], **dict.fromkeys(texts, text))
        for number, text in enumerate(HOSTILE)
    ]
    write_log(workspace.records_dir / f"{now.date()}.jsonl", log)
    for plain in HOSTILE:
        source.tables.open_gap(topic=plain, file=plain, symbol="", reason="search_miss", now=now)
        details = {"code_symbol": plain, "schema_ref": plain, "reason": plain}
        source.tables.suggest("schema.link.suggest", details, now=now)
        source.queue.put(plain[:200], {"a": plain}, max_attempts=1)
        taken = source.queue.take([plain[:200]])
        if taken is not None:
            source.queue.fail(taken, plain)
        given = {"id": "ce-2026-04-25-002", "cause": plain, "judged_at": now, "judged_by": plain}
        judgment = HumanVerdict(key=None, verdict=VerdictLetter.PASS, **given)
        append_verdict(workspace.judgments_dir, judgment)


@pytest.mark.parametrize("width", [1280, 390])
def test_hostile_text_neither_runs_nor_breaks_a_page(browser: Browser, attacked: Served, width: int):
    with attacked.client() as client:
        run_id = asked(client, task="<script>alert(1)</script> How long is the Rhine?").json()["run_id"]
        answer = client.post(
            "/ask", json={"question": "<img src=x onerror=alert(1)> What is the Rhine?"}
        ).json()
        client.post("/feedback", json={"id": answer["run_id"], "value": "down", "reason": HOSTILE[0]})
    tools = [f"/ui/tools/{name}" for name in ("%3Cscript%3Eqzcanary%3C%2Fscript%3E", "refund_order")]
    with visit(browser, attacked.url, width=width) as visited:
        items = ("/ui/review/ce-2026-04-25-002?q=calls", f"/ui/runs/{run_id}", f"/ui/ask/{answer['run_id']}")
        for path in (*(f"/ui/{name}" for name in PAGES), *items, *tools):
            page = visited.go(path)
            assert page.locator("main").count() == 1, path
            assert page.evaluate("document.scripts.length") == 1, path
            assert visited.hacked == [], path
            assert not visited.is_wider_than_its_window, path
        for name in ("tools", "ask", "health"):
            assert "qzcanary" in visited.go(f"/ui/{name}").inner_text("main"), name
        assert [one for one in visited.complaints if "404" not in one] == []
