"""The description of the API, made of the routes."""

import re
from collections.abc import Iterator, Mapping, Sequence
from http import HTTPStatus
from typing import Any, Final

import msgspec

from coreloop import __version__
from coreloop.answer.models.contracts import ErrorResponse
from coreloop.web.route import Route

_REF: Final = "#/components/schemas/{name}"
_JSON: Final = "application/json"
_INTRO: Final = """\
Questions about a project, answered with citations. Errors are an ErrorResponse with one sentence. Unknown
fields and parameters are refused by name. Timestamps are in UTC. A response has the header X-Trace-Id.
"""
_KEY_HEADER: Final = {
    "name": "Idempotency-Key",
    "in": "header",
    "description": "A request with the key of an earlier one, within a day, gets the run of the earlier one.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 200, "pattern": "^[ -~]+$"},
}
_LAST_ID: Final = {
    "name": "Last-Event-ID",
    "in": "header",
    "description": "The id of the last event that the client has.",
    "schema": {"type": "string", "pattern": "^[0-9]{1,18}$"},
}


def describe(routes: Sequence[Route]) -> dict[str, Any]:
    """Build an OpenAPI 3.1 document.

    Returns
    -------
    dict
        JSON. Every route with a body or a parameter in its path has an example.
    """
    types = {
        ErrorResponse,
        *(kind for route in routes for kind in (route.body, route.reply, *route.also.values()) if kind),
    }
    ordered = sorted(types, key=lambda kind: kind.__name__)
    schemas, components = msgspec.json.schema_components(ordered, ref_template=_REF)
    named = dict(zip(ordered, schemas, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, named)
    return {
        "openapi": "3.1.0",
        "info": {"title": "coreloop", "version": __version__, "description": _INTRO},
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
        },
    }


def _operation(route: Route, schemas: Mapping[Any, Any]) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "summary": route.summary,
        "operationId": route.name,
        "parameters": list(_parameters(route)),
        "responses": _responses(route, schemas),
        "security": [{"key": []}, {}] if route.scope else [{}],
    }
    if route.scope:
        operation["description"] = f"A key needs the scope `{route.scope}`."
    if route.body:
        content = {"schema": schemas[route.body], "example": dict(route.example or {})}
        operation["requestBody"] = {"required": True, "content": {_JSON: content}}
    return operation


def _responses(route: Route, schemas: Mapping[Any, Any]) -> dict[str, Any]:
    content = {"schema": schemas[route.reply]} if route.reply else {}
    media_types: dict[str, Any] = {route.media_type.partition(";")[0]: content}
    if "stream" in _fields(route):
        media_types["text/event-stream"] = {}
    others = {
        str(status): _described(status, {_JSON: {"schema": schemas[kind]}} if kind else {})
        for status, kind in route.also.items()
    }
    problem = {"description": "An error.", "content": {_JSON: {"schema": schemas[ErrorResponse]}}}
    return {"200": _described(200, media_types), **others, "default": problem}


def _described(status: int, content: Mapping[str, Any]) -> dict[str, Any]:
    return {"description": HTTPStatus(status).phrase, **({"content": content} if content else {})}


def _fields(route: Route) -> Sequence[str]:
    return route.body.__struct_fields__ if route.body else ()


def _parameters(route: Route) -> Iterator[dict[str, Any]]:
    for name in re.findall(r"\{(\w+)\}", route.path):
        yield {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
    _, components = msgspec.json.schema_components([route.query])
    for name, schema in components[route.query.__name__]["properties"].items():
        yield {"name": name, "in": "query", "schema": schema}
    if "async_" in _fields(route):
        yield _KEY_HEADER
    if route.media_type == "text/event-stream" or "stream" in _fields(route):
        yield _LAST_ID
