"""Spans of ended runs for OpenTelemetry, made of their journals: OTLP over HTTP as JSON, with GenAI names.

The names are those of OpenTelemetry's semantic conventions for generative AI. No question, answer, query or
address of a source is in a span.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from hashlib import sha256
from queue import SimpleQueue
from threading import Thread
from typing import Any, Final
from urllib.parse import unquote

from coreloop.errors import CoreloopError
from coreloop.http import ExchangeError, HttpClient, HttpRequest
from coreloop.runs import events
from coreloop.runs.state import State
from coreloop.runs.stores.store import Store
from coreloop.service.log import log

_ENDPOINT: Final = "OTEL_EXPORTER_OTLP_ENDPOINT"
_TIMEOUT_S: Final = 10.0
_MAX_ANSWER_BYTES: Final = 100_000
_MAX_WAITING: Final = 1_000
_DIGITS: Final = str.maketrans("ABCDEFGHJKMNPQRSTVWXYZ", "ABCDEFGHIJKLMNOPQRSTUV")
"""From the digits of a ULID to those of `int`."""
_INTERNAL, _CLIENT, _FAILED = 1, 3, 2
"""Numbers of OTLP: kinds of spans, and the status of an error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Collector:
    """Where spans are sent, as OpenTelemetry's variables say.

    Attributes
    ----------
    url : str
        Of traces.
    service : str
        The name of this service.
    headers : mapping of str to str
        They may hold a key.
    """

    url: str
    service: str
    headers: Mapping[str, str] = field(repr=False)


def collector_in(environ: Mapping[str, str]) -> Collector | None:
    """Return the collector that ``OTEL_EXPORTER_OTLP_ENDPOINT`` names; None if it is not set."""
    if not (endpoint := environ.get(_ENDPOINT, "").strip()):
        return None
    pairs = (pair.partition("=") for pair in environ.get("OTEL_EXPORTER_OTLP_HEADERS", "").split(","))
    return Collector(
        url=f"{endpoint.rstrip('/')}/v1/traces",
        service=environ.get("OTEL_SERVICE_NAME") or "coreloop",
        headers={name.strip(): unquote(value.strip()) for name, _, value in pairs if name.strip()},
    )


class Exporter:
    """A thread that sends the spans of ended runs; what does not arrive is one line of the log.

    Parameters
    ----------
    store : Store
        Has the runs.
    collector : Collector
        Where to send them.
    """

    def __init__(self, store: Store, collector: Collector) -> None:
        self._store = store
        self._collector = collector
        self._ended: SimpleQueue[State | None] = SimpleQueue()
        self._thread = Thread(target=self._send, name="spans", daemon=True)

    def __enter__(self) -> "Exporter":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.put(None)
        self._thread.join(_TIMEOUT_S)

    def ended(self, state: State) -> None:
        """Send the spans of a run later; runs that are too many are left out."""
        if self._ended.qsize() < _MAX_WAITING:
            self._ended.put(state)
        else:
            log("spans", run_id=state.run_id, error="too many wait")

    def _send(self) -> None:
        with HttpClient() as client:
            while state := self._ended.get():
                if error := self._sent(client, state):
                    log("spans", run_id=state.run_id, error=error)

    def _sent(self, client: HttpClient, state: State) -> str:
        collector = self._collector
        try:
            spans = spans_of(state, [event for _, event in self._store.read(state.run_id)])
            request = HttpRequest(
                method="POST",
                url=collector.url,
                headers=collector.headers,
                json=_traces(spans, collector.service),
            )
            status = client.exchange(request, timeout_s=_TIMEOUT_S, max_bytes=_MAX_ANSWER_BYTES).status
        except (ExchangeError, CoreloopError) as error:
            return str(error)
        return "" if status < 300 else f"the collector answered {status}"


def spans_of(state: State, journal: Sequence[events.Event]) -> list[dict[str, Any]]:
    """Make the spans of a run: one for the run, and in it one for each step.

    Parameters
    ----------
    state : State
        Of the ended run.
    journal : sequence of Event
        Its events, in order.

    Returns
    -------
    list of dict
        Spans of OTLP's JSON. The trace's id is the run's, as hexadecimal digits.
    """
    began = {event.reservation: event.at for event in journal if isinstance(event, events.Reserved)}
    trace_id = f"{int(state.run_id.translate(_DIGITS), 32):032x}"
    root = {
        **_span(trace_id, state.run_id, f"invoke_agent {state.kind}", journal[0].at, journal[-1].at),
        "attributes": _attributes(_run_facts(state)),
        "kind": _INTERNAL,
        "status": {"code": _FAILED} if state.status == "failed" else {},
    }
    return [root, *_steps(journal, began, root)]


def _run_facts(state: State) -> dict[str, str | int]:
    return {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": state.kind,
        "gen_ai.conversation.id": state.run_id,
        "coreloop.status": state.status,
        "coreloop.iterations": state.iteration,
        "coreloop.tokens": state.spent.tokens,
    }


def _steps(
    journal: Iterable[events.Event], began: Mapping[str, datetime], root: Mapping[str, Any]
) -> Iterator[dict[str, Any]]:
    for event in journal:
        if isinstance(event, events.StepCommitted | events.StepFailed):
            result = event.result if isinstance(event, events.StepCommitted) else None
            result = result if isinstance(result, dict) else {}
            took = timedelta(milliseconds=result.get("elapsed_ms", 0))
            name, facts = _step_facts(event.name, result)
            yield {
                **_span(
                    root["traceId"],
                    f"{event.key} {event.at.isoformat()}",
                    name,
                    began.get(event.reservation, event.at - took),
                    event.at,
                ),
                "parentSpanId": root["spanId"],
                "attributes": _attributes(facts),
                "kind": _CLIENT,
                "status": {"code": _FAILED} if isinstance(event, events.StepFailed) else {},
            }


def _step_facts(step: str, result: Mapping[str, Any]) -> tuple[str, dict[str, str | int]]:
    """Return the name and the attributes of a step: a call of a model, or of a tool."""
    verb, _, model = step.partition(" ")
    if verb != "ask":
        tool = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": step}
        return f"execute_tool {step}", {**tool, "gen_ai.tool.type": "function"}
    usage = result.get("usage") or {}
    return f"chat {model}", {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": model,
        "gen_ai.response.model": usage.get("model") or model,
        "gen_ai.usage.input_tokens": usage.get("input_tokens", 0),
        "gen_ai.usage.output_tokens": usage.get("output_tokens", 0),
    }


def _span(trace_id: str, key: str, name: str, began: datetime, ended: datetime) -> dict[str, Any]:
    return {
        "traceId": trace_id,
        "spanId": sha256(f"{trace_id} {key}".encode()).hexdigest()[:16],
        "name": name,
        "startTimeUnixNano": _nanoseconds(began),
        "endTimeUnixNano": _nanoseconds(ended),
    }


def _nanoseconds(moment: datetime) -> str:
    return str(int(moment.timestamp() * 1_000_000) * 1_000)


def _attributes(facts: Mapping[str, str | int]) -> list[dict[str, Any]]:
    return [
        {"key": key, "value": {"intValue": str(value)} if isinstance(value, int) else {"stringValue": value}}
        for key, value in facts.items()
    ]


def _traces(spans: list[dict[str, Any]], service: str) -> dict[str, Any]:
    resource = {"attributes": _attributes({"service.name": service})}
    scope = {"scope": {"name": "coreloop"}, "spans": spans}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [scope]}]}
