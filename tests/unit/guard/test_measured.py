"""The trailer of a measurement: one of its verdicts, or the promotion is refused."""

from coreloop.base.git.trailers import MEASURED, MEASURED_VERDICTS
from guarding import commit, event, judged


def reasons(verdict: str) -> str:
    message = f"{commit().message.rstrip()}\n{MEASURED}: {verdict}\n"
    return " ".join(judged(event(), commits=(commit(message),)).reasons)


def test_only_a_verdict_of_a_measurement_may_be_in_its_trailer():
    refused = "is no verdict of a measurement"
    assert refused in reasons("merge it at once")
    assert [verdict for verdict in MEASURED_VERDICTS if refused in reasons(verdict)] == []
