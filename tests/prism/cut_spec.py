"""Cuts the official API description down to the operations that coreloop uses.

The whole (13 MB) takes Prism ten seconds and 300 MB to load; the cut, well under a second.

    python cut_spec.py api.github.com.json github.json
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

REPO = "/repos/{owner}/{repo}"
OPERATIONS = {
    REPO: ("get", "patch"),
    f"{REPO}/pulls": ("get", "post"),
    f"{REPO}/pulls/{{pull_number}}": ("get", "patch"),
    f"{REPO}/pulls/{{pull_number}}/reviews": ("get",),
    f"{REPO}/commits/{{ref}}": ("get",),
    f"{REPO}/issues": ("get", "post"),
    f"{REPO}/issues/{{issue_number}}": ("patch",),
    f"{REPO}/statuses/{{sha}}": ("post",),
    f"{REPO}/collaborators/{{username}}/permission": ("get",),
    f"{REPO}/activity": ("get",),
    f"{REPO}/pulls/{{pull_number}}/commits": ("get",),
    f"{REPO}/commits/{{commit_sha}}/pulls": ("get",),
    f"{REPO}/issues/{{issue_number}}/comments": ("get", "post"),
    f"{REPO}/issues/comments/{{comment_id}}": ("patch",),
    f"{REPO}/issues/{{issue_number}}/labels": ("post",),
    f"{REPO}/issues/{{issue_number}}/labels/{{name}}": ("delete",),
    f"{REPO}/branches/{{branch}}": ("get",),
    f"{REPO}/branches/{{branch}}/protection": ("get", "put"),
    f"{REPO}/rules/branches/{{branch}}": ("get",),
    f"{REPO}/actions/workflows/{{workflow_id}}/runs": ("get",),
    f"{REPO}/collaborators": ("get",),
    f"{REPO}/codeowners/errors": ("get",),
}


def cut(spec: dict[str, Any]) -> dict[str, Any]:
    paths = {path: {verb: spec["paths"][path][verb] for verb in verbs} for path, verbs in OPERATIONS.items()}
    kept: dict[str, dict[str, Any]] = {}
    waiting = list(_references(paths))
    while waiting:
        kind, name = waiting.pop().removeprefix("#/components/").split("/", 1)
        if name not in kept.setdefault(kind, {}):
            kept[kind][name] = _without_examples(kind, spec["components"][kind][name])
            waiting.extend(_references(kept[kind][name]))
    # no "servers": Prism would hold the public API's host against a request that goes to this machine
    return {"openapi": spec["openapi"], "info": spec["info"], "paths": paths, "components": kept}


def _references(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        if isinstance(target := node.get("$ref"), str):
            yield target
        for child in node.values():
            yield from _references(child)
    elif isinstance(node, list):
        for child in node:
            yield from _references(child)


def _without_examples(kind: str, component: Any) -> Any:
    return {"value": None} if kind == "examples" else component


if __name__ == "__main__":
    source, target = map(Path, sys.argv[1:])
    target.write_text(json.dumps(cut(json.loads(source.read_bytes()))), encoding="utf-8")
