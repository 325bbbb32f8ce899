"""Spans of ended runs for OpenTelemetry, made of their journals with the extra ``traces``.

opentelemetry-sdk is imported only in this module, and reads its own variables. The names are those of
OpenTelemetry's semantic conventions for generative AI. No question, answer, query or address of a source is
in a span.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from threading import local
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from coreloop.base.errors import CoreloopError
from coreloop.base.extras import needs
from coreloop.runs import events
from coreloop.runs.state import State
from coreloop.runs.stores.store import Store
from coreloop.web.service_log import log

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.trace import Tracer

_ENDPOINTS: Final = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
_SERVICE: Final = "OTEL_SERVICE_NAME"
_Facts: TypeAlias = dict[str, str | int]


class Spans:
    """Makes the spans of ended runs; the SDK sends them from a thread of its own.

    Parameters
    ----------
    store : Store
        Has the runs.
    provider : opentelemetry.sdk.trace.TracerProvider
        What `provider_of` returns.
    trace : threading.local
        Its ``id`` is what the provider takes for the next trace.
    """

    def __init__(self, store: Store, provider: "TracerProvider", trace: local) -> None:
        self._store = store
        self._tracer = provider.get_tracer("coreloop")
        self._trace = trace

    def ended(self, state: State) -> None:
        """Make the spans of a run: one for the run, and in it one for each step."""
        try:
            journal = [event for _, event in self._store.read(state.run_id)]
        except CoreloopError as error:
            log("spans", run_id=state.run_id, error=str(error))
            return
        self._trace.id = int(state.trace_id, 16)
        _make(self._tracer, state, journal)


@contextmanager
def open_spans(store: Store, environ: Mapping[str, str]) -> Iterator[Spans | None]:
    """Open what makes spans; None if the environment names no collector, or the SDK is missing."""
    if not (named := next((name for name in _ENDPOINTS if environ.get(name, "").strip()), "")):
        yield None
        return
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError:
        log("spans", error=needs("traces", feature=named))
        yield None
        return
    trace = local()
    provider = provider_of(environ.get(_SERVICE) or "coreloop", trace)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    try:
        yield Spans(store, provider, trace)
    finally:
        provider.shutdown()


def provider_of(service: str, trace: local) -> "TracerProvider":
    """Return a provider whose traces have the ids that ``trace.id`` says."""
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.id_generator import RandomIdGenerator

    class Ids(RandomIdGenerator):
        def generate_trace_id(self) -> int:
            return int(trace.id)

    resource = Resource.create({"service.name": service})
    return TracerProvider(resource=resource, id_generator=Ids(), shutdown_on_exit=False)


def _make(tracer: "Tracer", state: State, journal: Sequence[events.Event]) -> None:
    from opentelemetry.context import Context
    from opentelemetry.trace import SpanKind, Status, StatusCode, set_span_in_context

    failed = Status(StatusCode.ERROR)
    root = tracer.start_span(
        f"invoke_agent {state.kind}",
        Context(),
        kind=SpanKind.INTERNAL,
        attributes=_run_facts(state),
        start_time=_nanoseconds(journal[0].at),
    )
    for name, facts, began, event in _steps(journal):
        step = tracer.start_span(
            name,
            set_span_in_context(root, Context()),
            kind=SpanKind.CLIENT,
            attributes=facts,
            start_time=_nanoseconds(began),
        )
        if isinstance(event, events.StepFailed):
            step.set_status(failed)
        step.end(_nanoseconds(event.at))
    if state.status == "failed":
        root.set_status(failed)
    root.end(_nanoseconds(journal[-1].at))


def _run_facts(state: State) -> _Facts:
    return {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": state.kind,
        "gen_ai.conversation.id": state.run_id,
        "coreloop.admin.status": state.status,
        "coreloop.iterations": state.iteration,
        "coreloop.tokens": state.spent.tokens,
    }


def _steps(journal: Sequence[events.Event]) -> Iterator[tuple[str, _Facts, datetime, events.Event]]:
    """Yield the name, the attributes and the beginning of each step, and the event of its end."""
    reserved = {event.reservation: event.at for event in journal if isinstance(event, events.Reserved)}
    for event in journal:
        if isinstance(event, events.StepCommitted | events.StepFailed):
            result = event.result if isinstance(event, events.StepCommitted) else None
            result = result if isinstance(result, dict) else {}
            took = timedelta(milliseconds=result.get("elapsed_ms", 0))
            name, facts = _step_facts(event.name, result)
            yield name, facts, reserved.get(event.reservation, event.at - took), event


def _step_facts(step: str, result: Mapping[str, Any]) -> tuple[str, _Facts]:
    """Return the name and the attributes of a step: a call of a model, or of a tool."""
    verb, _, model = step.partition(" ")
    if verb != "ask":
        tool: _Facts = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": step}
        return f"execute_tool {step}", {**tool, "gen_ai.tool.type": "function"}
    usage = result.get("usage") or {}
    return f"chat {model}", {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": model,
        "gen_ai.response.model": usage.get("model") or model,
        "gen_ai.usage.input_tokens": usage.get("input_tokens", 0),
        "gen_ai.usage.output_tokens": usage.get("output_tokens", 0),
    }


def _nanoseconds(timestamp: datetime) -> int:
    return int(timestamp.timestamp() * 1_000_000) * 1_000
