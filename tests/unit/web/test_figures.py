"""What a service says of its answers: figures for Prometheus and by day, and phases in its log."""

from datetime import UTC, date, datetime
from pathlib import Path

import httpx2
import pytest
from prometheus_client.parser import text_string_to_metric_families

from serving import QUESTION, served


def figures(client: httpx2.Client) -> dict[tuple[str, str], float]:
    """Samples by name and the value of the only label."""
    return {
        (sample.name, next(iter(sample.labels.values()), "")): sample.value
        for family in text_string_to_metric_families(client.get("/metrics").text)
        for sample in family.samples
        if len(sample.labels) <= 1
    }


@pytest.mark.slow
def test_evidence_feedback_and_retries_are_counted(tmp_path: Path):
    began = datetime.now(UTC).date()
    with served(tmp_path) as service, service.client() as client:
        before = client.get("/api/metrics/cbo/series").json()
        assert (before["days"], before["retry_rate"]) == ([], 0.0)
        answer = client.post("/ask", json={"question": QUESTION}).json()
        assert client.post("/feedback", json={"id": answer["request_id"], "value": "down"}).status_code == 200
        shown = figures(client)
        assert shown["evidence_hits_last_day", "text"] >= 1
        assert (shown["feedback_last_day", "down"], shown["feedback_last_day", "up"]) == (1, 0)
        assert shown["jobs_retry_rate", ""] == 0.0
        (day,) = client.get("/api/metrics/cbo/series").json()["days"]
        assert began <= date.fromisoformat(day["day"]) <= datetime.now(UTC).date()
        assert (day["evidence"]["text"] >= 1, day["feedback"]) == (True, {"down": 1})
