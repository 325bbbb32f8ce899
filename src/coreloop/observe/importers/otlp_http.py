"""The bodies that exporters send (OTLP 1.x): spans in JSON or protobuf, as the reader of files takes them.

https://opentelemetry.io/docs/specs/otlp/#otlphttp
"""

from base64 import b64decode
from collections.abc import Iterator
from typing import Any, Final

from coreloop.base.errors import UsageError
from coreloop.observe.importers import trace_values as values

PROTOBUF: Final = "application/x-protobuf"
_IDS: Final = ("traceId", "spanId", "parentSpanId")  # hex in OTLP's JSON, base64 in protobuf's


def spans_in(body: bytes, media_type: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each span as a flat object, after the name of what made it: its instrumentation's scope.

    Raises
    ------
    UsageError
        The body is not of its type.
    """
    if media_type == PROTOBUF:
        return _of_protobuf(body)
    try:
        document = values.decode_trace(body)
    except ValueError as error:
        raise UsageError(f"the body is not JSON: {error}") from error
    if not isinstance(document, dict) or not isinstance(document.get("resourceSpans", []), list):
        raise UsageError("the body is no export of traces: it has no list of resourceSpans")
    return _of_json(document)


def _of_json(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for resource in values.objects(document.get("resourceSpans")):
        for scoped in values.objects(resource.get("scopeSpans")):
            scope = scoped.get("scope")
            name = values.text(scope.get("name")) if isinstance(scope, dict) else None
            for span in values.objects(scoped.get("spans")):
                yield name or "", span


def trace_service() -> Any:
    """Return the messages of the protocol, which are imported when the first one comes."""
    from opentelemetry.proto.collector.trace.v1 import trace_service_pb2

    return trace_service_pb2


def _of_protobuf(body: bytes) -> Iterator[tuple[str, dict[str, Any]]]:
    from google.protobuf.json_format import MessageToDict
    from google.protobuf.message import DecodeError

    try:
        request = trace_service().ExportTraceServiceRequest.FromString(body)
    except DecodeError as error:
        raise UsageError("the body is not protobuf of an export of traces") from error
    for scoped in (scoped for resource in request.resource_spans for scoped in resource.scope_spans):
        for message in scoped.spans:  # one by one: as objects of Python they take many times as much
            span = MessageToDict(message)
            span.update((key, b64decode(span[key]).hex()) for key in _IDS if key in span)
            yield scoped.scope.name, span
