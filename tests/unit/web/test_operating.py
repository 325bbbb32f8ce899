"""Metrics, health, and the description of the API, whose examples run."""

import json
import re
from dataclasses import fields
from pathlib import Path

import httpx2
import jsonschema
import pytest
from prometheus_client.parser import text_string_to_metric_families

from coreloop.base.project.settings import ServiceSettings
from coreloop.web.api import ROUTES
from coreloop.web.route import describe
from serving import Served, asked, until

DOCS = Path(__file__).parents[3] / "docs"
DOCUMENT = describe(ROUTES)
EXAMPLES = [
    (path, method, operation)
    for path, methods in DOCUMENT["paths"].items()
    for method, operation in methods.items()
]


def samples(client: httpx2.Client) -> dict[str, float]:
    response = client.get("/metrics")
    assert response.headers["content-type"].startswith("text/plain; version=")
    families = text_string_to_metric_families(response.text)
    return {
        f"{sample.name}{json.dumps(sample.labels, sort_keys=True)}": sample.value
        for family in families
        for sample in family.samples
    }


@pytest.mark.slow
def test_health_is_quiet_and_says_when_the_index_is_gone(client: httpx2.Client, service: Served):
    assert client.get("/readyz").json() == {"status": "ok"}
    index = next(service.folder.rglob("index.db"))
    hidden = index.with_suffix(".away")
    index.rename(hidden)
    try:
        response = until(lambda: (got := client.get("/readyz")).status_code == 503 and got)
        assert str(service.folder) not in response.text
    finally:
        hidden.rename(index)
        until(lambda: client.get("/readyz").status_code == 200)
    assert not [line for line in service.lines if line.get("route") == "/readyz" and line["status"] == 200]


def test_the_served_description_is_the_routes(client: httpx2.Client):
    assert client.get("/openapi.json").json() == json.loads(json.dumps(DOCUMENT))


@pytest.fixture(scope="session")
def ids(client: httpx2.Client) -> dict[str, str]:
    """What stands for the parameters of paths."""
    later = asked(client, **{"async": True}).json()
    # another question than those of other tests: the service that they share remembers what was rejected
    other = "Through which city does the river flow?"
    answer_id = client.post("/ask", json={"question": other}).json()["request_id"]
    client.post("/feedback", json={"id": answer_id, "value": "down"})
    until(lambda: client.get(f"/runs/{later['run_id']}").json()["state"]["status"] == "completed")
    return {**later, "answer_id": answer_id}


@pytest.mark.parametrize(("path", "method", "operation"), EXAMPLES)
def test_every_example_runs_and_its_answer_has_the_described_form(
    client: httpx2.Client, ids: dict[str, str], path: str, method: str, operation: dict
):
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("example")
    if path == "/feedback":
        body = {**body, "id": ids["answer_id"]}
    response = client.request(method, path.format(**ids), json=body)
    expected = 409 if path.endswith(("pause", "resume", "stop")) else 200
    assert response.status_code == expected
    described = operation["responses"][str(expected) if expected == 200 else "default"]["content"]
    media_type = response.headers["content-type"].partition(";")[0]
    if media_type == "application/json":
        schema = described[media_type]["schema"] | {"components": DOCUMENT["components"]}
        jsonschema.validate(response.json(), schema)
    else:
        assert media_type in described


def test_the_dashboard_shows_metrics_that_exist(client: httpx2.Client):
    asked(client)
    names = {name.partition("{")[0] for name in samples(client)}
    dashboard = json.loads((DOCS / "service-dashboard.json").read_text())
    shown = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    for expression in shown:
        assert any(name in names for name in re.findall(r"\b[a-z0-9_]{4,}\b", expression)), expression
    page = (DOCS / "how-to" / "deploy.md").read_text()
    for name in re.findall(r"`([a-z0-9_]+_(?:total|seconds|hour)|iterations_per_request)`", page):
        assert any(known.startswith(name) for known in names), name


def test_the_page_names_every_route_and_limit():
    page = (DOCS / "service.md").read_text()
    for route in ROUTES:
        assert route.path.rpartition("/")[2].partition("{")[0] in page, route.path
    for limit in (field.name for field in fields(ServiceSettings)):
        assert limit in page, limit
