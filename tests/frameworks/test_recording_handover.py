"""A hand-over is a call in the record of the one request that both agents answer."""

import pytest

from frameworks.environments import drive
from frameworks.planned import expected, plan
from frameworks.test_recording import calls_of

pytestmark = pytest.mark.frameworks


def test_hand_over_stands_between_the_calls_of_both_agents() -> None:
    requests = plan(seed=7, n_requests=50)
    records, printed = drive("handing_over", "openai-agents", requests)
    assert printed[-1] == {}
    assert len(records) == len(requests)
    by_question = {record["question"]: record for record in records}
    for request in requests:
        record = by_question[request["question"]]
        shown = calls_of(record)
        first = len(request["rounds"][0])
        planned = expected(request)
        planned = [*planned[:first], ("transfer_to_booker", True, None, ()), *planned[first:]]
        assert shown == planned, request
        assert (record["error"], record["chunk_len"]) == (None, len("done"))
