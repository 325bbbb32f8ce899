"""Cuts OpenAI's official API description down to chat completions, as JSON Schema.

    python cut_spec.py FOLDER_WITH_OPENAPI_YML chat.json

Fails if the description is not the one that its publisher's hash names.
"""

import hashlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

SHA256 = "a203971a0bc0cd3b903b9488e3ac40eaa161a274dfaf172c1da73eee029147a8"
"""Of the description as of 2026-05-31."""
WANTED = ("CreateChatCompletionRequest", "CreateChatCompletionResponse", "ErrorResponse")


def cut(spec: dict[str, Any]) -> dict[str, Any]:
    schemas = spec["components"]["schemas"]
    kept: dict[str, Any] = {}
    waiting = list(WANTED)
    while waiting:
        name = waiting.pop()
        if name not in kept:
            kept[name] = _with_nulls(schemas[name])
            waiting.extend(_references(schemas[name]))
    return {"components": {"schemas": kept}}


def _references(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        if isinstance(target := node.get("$ref"), str):
            yield target.removeprefix("#/components/schemas/")
        for child in node.values():
            yield from _references(child)
    elif isinstance(node, list):
        for child in node:
            yield from _references(child)


def _with_nulls(node: Any) -> Any:
    """OpenAPI's ``nullable: true`` in JSON Schema."""
    if isinstance(node, list):
        return [_with_nulls(child) for child in node]
    if not isinstance(node, dict):
        return node
    plain = {key: _with_nulls(child) for key, child in node.items() if key not in {"nullable", "example"}}
    return {"anyOf": [plain, {"type": "null"}]} if node.get("nullable") is True else plain


if __name__ == "__main__":
    folder, target = map(Path, sys.argv[1:])
    content = (folder / "openapi.yml").read_bytes()
    if hashlib.sha256(content).hexdigest() != SHA256:
        sys.exit("openapi.yml is not the description of 2026-05-31: its hash differs")
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    target.write_text(json.dumps(cut(yaml.load(content, Loader=loader))), encoding="utf-8")
