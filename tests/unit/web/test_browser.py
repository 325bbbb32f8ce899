"""The events of a run as a browser's EventSource receives them."""

from pathlib import Path

import pytest

from browsing import chromium, needs_chromium
from researching import project
from serving import asked, events_in, held_search, served, until

pytestmark = [pytest.mark.slow, needs_chromium]
LISTEN = """
(path) => {
    window.received = [];
    window.events = new EventSource(path);
    const take = (event) => window.received.push([Number(event.lastEventId), event.type]);
    for (const name of ["phase", "query", "source", "finding", "usage", "answer"])
        window.events.addEventListener(name, take);
}
"""
IS_CLOSED = "window.events.readyState === EventSource.CLOSED"


def test_an_event_source_gets_each_event_once_and_ends(tmp_path: Path):
    project(tmp_path)
    with (
        held_search() as search,
        served(tmp_path, settings=search.settings) as service,
        service.client() as client,
        chromium() as browser,
    ):
        run_id = asked(client, **{"async": True}).json()["run_id"]
        until(lambda: search.queries)
        page = browser.new_page()
        page.goto(f"{service.url}/version")
        page.evaluate(LISTEN, f"/runs/{run_id}/events")
        page.wait_for_function("window.received.length > 0")
        search.is_released.set()
        page.wait_for_function(IS_CLOSED)  # it asks again after the answer, and gets 204
        with client.stream("GET", f"/runs/{run_id}/events") as response:
            sent = [[event.id, event.name] for event in events_in(response.iter_lines())]
        assert page.evaluate("window.received") == sent
        assert sent[-1][1] == "answer"
