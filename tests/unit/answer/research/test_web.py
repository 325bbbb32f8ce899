"""Pages behind the results of a search service are read once."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from coreloop.answer.research.run import run_research
from coreloop.answer.search.services import SearxngProvider
from fault_server import fault_server, reader_of, replies
from researching import RIVER, deps_in, project

PAGE = (
    f"<html><title>Rivers</title><body><main><h1>The Han river</h1><p>{RIVER}</p>"
    f"{'<p>Water.</p>' * 9}</main></body>"
)


@pytest.mark.slow
def test_a_page_behind_a_result_is_read_once(tmp_path: Path):
    with fault_server() as server:
        urls = [f"{server.url}/han", f"{server.url}/gone"]
        found = [{"url": url, "title": "Rivers", "content": "a page about rivers"} for url in urls]
        server.paths["/search"] = replies(
            200, json.dumps({"results": found}), content_type="application/json"
        )
        server.paths["/han"] = replies(200, PAGE, content_type="text/html")
        with deps_in(project(tmp_path), provider=SearxngProvider(server.url)) as deps:
            reading = replace(deps, pages=reader_of(server.port))
            response = run_research("How long is the Han river?", deps=reading, max_iters=2)
        asked = [request.split()[1] for request in server.requests]
    assert response.final_answer == f"{RIVER} [1]"
    assert [one.location for one in response.sources] == [urls[0]]
    assert asked.count(b"/han") == 1
