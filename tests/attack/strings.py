"""Texts of people who mean harm, through the doors of a service: data on the way in, text on the way out.

Markup goes through each door; hostile questions take turns, and go through each of them in the weekly run.
"""

import json
from collections.abc import Iterator
from functools import partial
from urllib.parse import quote
from xml.etree import ElementTree

import httpx2

from attack.case import Attack
from hostile import QUESTIONS
from serving import Served
from showing import elements
from weekly import WEEKLY

HTML = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "'><svg/onload=alert(1)>",
    "</title><script>alert(1)</script>",
    "</textarea><script>alert(1)</script>",
    "javascript:alert(1)",
    "{{7*7}} {% raw %} ${7*7} #{7*7}",
    "<!--#exec cmd='id'-->",
    "<style>*{display:none}</style>",
    "<base href='//evil.example/'>",
    "\u2028</script><script>alert(1)</script>",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "x onmouseover=alert(1) y=",
)
MARK = "Han river "
_FORBIDDEN = frozenset({"script", "img", "svg", "style", "base", "iframe", "object", "title"})
_DOORS = {
    "/search": lambda text: {"query": text[:9_000]},
    "/run-simple": lambda text: {"task": (MARK + text)[:9_000]},
    "/ask": lambda text: {"question": (MARK + text)[:9_000]},
}


def attacks(service: Served) -> Iterator[Attack]:
    texts = [text.encode("utf-8", "replace").decode() for text in (*HTML, *QUESTIONS)]
    for number, text in enumerate(texts):
        name = f"{number}: {text[:40]!r}"
        doors = list(_DOORS) if WEEKLY or text in HTML else [list(_DOORS)[number % len(_DOORS)]]
        yield Attack("string", f"asked, {name}", partial(_broken, service, text, doors))
        yield Attack("string", f"in a path, {name}", partial(_broken_path, service, text))


def _broken(service: Served, text: str, doors: list[str]) -> str:
    with service.client() as client:
        for path in doors:
            response = client.post(path, json=_DOORS[path](text))
            if response.status_code >= 500 or not isinstance(response.json(), dict):
                return f"{path} answered {response.status_code}"
            if problem := _page_problem(client, str(response.json().get("run_id", ""))):
                return problem
    return _log_problem(service)


def _broken_path(service: Served, text: str) -> str:
    with service.client() as client:
        quoted = quote(text[:2_000], safe="")
        for path in (f"/runs/{quoted}", f"/runs?kind={quoted}", f"/ui/{quoted}", f"/ui/runs/{quoted}"):
            status = client.get(path).status_code
            if status >= 500:
                return f"{path[:40]} answered {status}"
    return ""


def _page_problem(client: httpx2.Client, run_id: str) -> str:
    """What markup of a text came through in the pages that show it."""
    for path in (f"/ui/runs/{run_id}", "/ui/runs") if run_id else ():
        page = client.get(path)
        try:
            tree = elements(page.text)
        except ElementTree.ParseError as error:
            return f"{path}: markup came through ({error})"
        inside = next(tree.iter("main"))
        if found := {one.tag for one in inside.iter()} & (_FORBIDDEN - {"svg", "title", "style"}):
            return f"{path}: {found} came through"
        if any(name.startswith("on") for one in tree.iter() for name in one.attrib):
            return f"{path}: a handler came through"
        if any(one.get("href", "").strip().lower().startswith("javascript:") for one in tree.iter("a")):
            return f"{path}: a link with a script came through"
    return ""


def _log_problem(service: Served) -> str:
    """Whether the log has a bug, or a line that is more than one."""
    for line in service.log.read_text("utf-8").splitlines():
        try:
            event = json.loads(line)["event"]
        except (ValueError, LookupError):
            return f"the log has a line of its own: {line[:60]!r}"
        if event in {"bug", "error"}:
            return f"the log has a {event}"
    return ""
