"""The figures of a service for Prometheus."""

from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from coreloop.answer.repair.jobs import DayMetrics
from coreloop.answer.research.research_state import Knowledge
from coreloop.runs.jobs.queue import QueueMetrics
from coreloop.runs.state import State

CONTENT_TYPE: Final = CONTENT_TYPE_LATEST
_SECONDS: Final = (0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600)
_ITERATIONS: Final = (1, 2, 3, 5, 8, 12, 20, 50, 100)
_REQUEST_SECONDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 60)

_REQUEST: Final = ("route", "method", "status")
_SPANS: Final = (
    ("http_request_duration_seconds", "Time until the end of a response.", _REQUEST, _REQUEST_SECONDS),
    ("research_loop_duration_seconds", "Seconds of work of ended runs.", ("kind", "status"), _SECONDS),
    ("iterations_per_request", "Committed iterations of ended runs.", ("kind",), _ITERATIONS),
)
_SUMS: Final = (
    ("search_failures", "Searches that were blocked or failed."),
    ("tokens", "Tokens that ended runs used."),
    ("spent_usd", "US dollars that ended runs spent."),
    ("drift", "Times that a run was turned another way."),
    ("citations_dropped", "Sentences that no source says."),
    ("repairs", "Rounds of repair."),
)
_LEVELS: Final[tuple[tuple[str, str, tuple[str, ...]], ...]] = (
    ("jobs", "Jobs of all processes.", ("status",)),
    ("jobs_done_last_hour", "Jobs of all processes.", ()),
    ("jobs_p95_seconds", "From the creation to the end of the last hour's jobs.", ()),
    ("jobs_retry_rate", "Share of jobs that needed a second attempt.", ()),
    ("evidence_hits_last_day", "Sources that answers were given.", ("source",)),
    ("feedback_last_day", "What people said of answers.", ("kind",)),
)
_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class Metrics:
    """Counts what this process does; figures of jobs and answers are those of all processes."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._spans = {
            name: Histogram(name, text, labels, buckets=buckets, registry=self._registry)
            for name, text, labels, buckets in _SPANS
        }
        self._sums = {name: Counter(name, text, ["kind"], registry=self._registry) for name, text in _SUMS}
        self._levels = {
            name: Gauge(name, text, labels, registry=self._registry) for name, text, labels in _LEVELS
        }

    def request(self, route: str, method: str, status: int, seconds: float) -> None:
        """Count a response; ``method`` is a `known_method`."""
        self._spans["http_request_duration_seconds"].labels(route, method, str(status)).observe(seconds)

    def ended(self, state: State) -> None:
        """Count a run that this process has ended."""
        known = state.of_kind if isinstance(state.of_kind, Knowledge) else Knowledge()
        kind = state.kind
        self._spans["research_loop_duration_seconds"].labels(kind, state.status).observe(state.elapsed_s)
        self._spans["iterations_per_request"].labels(kind).observe(state.iteration)
        for name, number in (
            ("search_failures", len(known.failed_queries)),
            ("tokens", state.spent.tokens),
            ("spent_usd", state.spent.usd),
            ("drift", state.turns),
            ("citations_dropped", len(known.dropped) + sum(len(one.dropped) for one in known.attempts)),
            ("repairs", len(known.repairs)),
        ):
            self._sums[name].labels(kind).inc(number)

    def text(self, last: DayMetrics, jobs: QueueMetrics) -> bytes:
        """Return all figures in Prometheus' text format."""
        levels = self._levels
        for status, number in jobs.by_status.items():
            levels["jobs"].labels(status).set(number)
        levels["jobs_done_last_hour"].set(jobs.done_last_hour)
        if jobs.p95_s is not None:
            levels["jobs_p95_seconds"].set(jobs.p95_s)
        levels["jobs_retry_rate"].set(jobs.retry_rate)
        levels["evidence_hits_last_day"].clear()  # what was yesterday's is not today's
        for source, number in last.evidence.items():
            levels["evidence_hits_last_day"].labels(source).set(number)
        for kind in ("up", "down"):
            levels["feedback_last_day"].labels(kind).set(last.feedback.get(kind, 0))
        return generate_latest(self._registry)


def known_method(method: str) -> str:
    """Return a method of HTTP; ``other`` for a made-up one, or each would be a series of its own for ever."""
    return method if method in _METHODS else "other"
