"""Traces from a server's API, page by page, as files for the readers of files.

Beside the pages a state says which comes next, so that an interrupted pull goes on there. Each list is that
of the current version, else those of the one before: Langfuse 4 and 3, LangSmith with ``v2/runs/query``
(self-hosted: 0.16) and without, Phoenix 20, MLflow 3 with spans in its database and in files.
"""

import json
import re
import shutil
from base64 import b64encode
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from hashlib import sha256
from pathlib import Path
from time import sleep
from typing import Any, Final
from urllib.parse import quote, urlencode

import msgspec

from coreloop.base.errors import CoreloopError, UsageError
from coreloop.base.files import locked, read_file, write_private
from coreloop.base.github.github_api import is_this_machine
from coreloop.base.http import ExchangeError, HttpClient, HttpRequest
from coreloop.observe.importers.trace_values import decode_trace, first, listed, objects, text

# The variables of each server's keys and project, and its lists: a path with parameters or the body to post.
_SERVERS: Final = Path(__file__).with_name("servers.tsv")
# For example https://app.phoenix.arize.com/s/space and http://[::1]:6006, not https://key@host or host:6006
_URL: Final = re.compile(r"(https?)://([\w.-]+|\[[\da-f:]+\])(?::\d+)?(?:/[\w./~-]*)?", re.ASCII)
_FIRST: Final = timedelta(days=7)
_OVERLAP: Final = timedelta(days=1)  # of two pulls: spans, scores and annotations come late
_MAX_BYTES: Final = 64 << 20  # of an answer, which is held whole
_MAX_PAGES: Final = 10_000  # of a server that always names another
_TIMEOUT_S: Final = 60.0
_WAITS_S: Final = (1.0, 4.0, 15.0, 60.0)  # after 429 and 503 that do not say how long
_LONGEST_WAIT_S: Final = 120.0
_ABSENT: Final = (404, 405, 501)
_IN_FILES: Final = (*_ABSENT, 400, 500)  # of MLflow: the spans of a trace are not in its database


class PullError(CoreloopError):
    """A server gave no usable answer; the pages before are kept, and the next pull goes on there."""


class _State(msgspec.Struct):
    """How far a pull is: the lists to read, the parameter of the next page, and how many pages there were."""

    since: datetime
    until: datetime
    lists: list[list[str]]
    cursor: dict[str, str] = {}
    n_pages: int = 0
    is_imported: bool = False


@contextmanager
def pulled(
    server: str,
    url: str,
    parent: Path,
    *,
    environ: Mapping[str, str],
    now: datetime,
    since: date | None,
    progress: Callable[[str], None],
) -> Iterator[list[Path]]:
    """Provide the folder with the pages of a server's traces; it is removed if the block succeeds.

    Parameters
    ----------
    server, url : str
        ``langfuse``, ``langsmith``, ``phoenix`` or ``mlflow``, and its address.
    parent : Path
        Has a folder for each server and project, in which pages wait for the last.
    environ : mapping of str to str
        Has the keys, and which project of the server is read.
    since : date, optional
        The first day, in UTC. Default: a day before the end of the last pull, or seven days.
    progress : callable
        Gets how many pages there are.

    Yields
    ------
    list of Path
        Empty if the server has no traces.

    Raises
    ------
    UsageError
        The address cannot be asked, or a key is missing.
    PullError
        The server gave no usable answer.
    WorkspaceError
        A page cannot be written.
    """
    names, *rows = (line.split("\t") for line in _SERVERS.read_text("utf-8").splitlines())
    api = next(dict(zip(names, row, strict=True)) for row in rows if row[0] == server)
    headers = _headers(api, environ)
    host = _checked_host(url, has_key=bool(headers))
    project = next(filter(None, map(environ.get, api["project"].split())), api["default"])
    scope = sha256(f"{url}\n{project}".encode("utf-8", "replace")).hexdigest()[:8]
    folder = parent / f"{server}-{host.replace(':', '_')}-{scope}"
    pages, path, state = folder / "pages", folder / "state", None
    first = datetime.combine(since, time(), UTC) if since else None
    with locked(folder), HttpClient() as client:
        asked = _Server(url.rstrip("/"), headers, folder, client)
        if path.exists():
            state = msgspec.json.decode(read_file(path), type=_State)
        if state is None or state.is_imported or (first and first < state.since):
            shutil.rmtree(pages, ignore_errors=True)
            begins = now - _FIRST if state is None else state.until - _OVERLAP
            state = asked.begin(api, project, first or begins, now)
        for number, page in asked.pages(state):
            if page:
                write_private(pages / f"{number:05}.jsonl", page)
            write_private(path, msgspec.json.encode(state))
            progress(f"{number:,} pages")
        yield [pages] if pages.is_dir() else []
        state.is_imported = True
        write_private(path, msgspec.json.encode(state))
        shutil.rmtree(pages, ignore_errors=True)


def _headers(api: Mapping[str, str], environ: Mapping[str, str]) -> dict[str, str]:
    names = api["keys"].split()
    keys = [environ.get(name, "").strip() for name in names]
    if api["needed"] and "" in keys:
        raise UsageError(f"{names[keys.index('')]} is not set; --from {api['server']} --url needs it")
    if api["server"] == "langsmith":
        return {"x-api-key": keys[0]}
    is_pair = api["server"] == "langfuse" or not keys[0]
    pair = b64encode(":".join(keys[-2:]).encode()).decode()
    return {"Authorization": f"Basic {pair}" if is_pair else f"Bearer {keys[0]}"} if any(keys) else {}


def _checked_host(url: str, *, has_key: bool) -> str:
    match = _URL.fullmatch(url)
    if match is None:
        raise UsageError(
            "--url is the address of a server, such as https://cloud.langfuse.com, without a key"
        )
    host = match[2].strip("[]")
    if match[1] == "http" and has_key and not is_this_machine(host):
        raise UsageError(f"--url: http would send the key to {host} unencrypted; use https")
    return host


def _next(answer: Mapping[str, Any]) -> dict[str, str]:
    """The parameter that asks for the page after this one; empty if it is the last."""
    meta = {**answer}
    for key in ("meta", "cursors"):
        meta |= answer[key] if isinstance(answer.get(key), dict) else {}
    page, last = meta.get("page"), meta.get("totalPages")
    if isinstance(page, int) and isinstance(last, int):
        return {"page": str(page + 1)} if page < last else {}
    names = {"next_page_token": "page_token", "next_cursor": "cursor", "cursor": "cursor", "next": "cursor"}
    return next(({names[key]: meta[key]} for key in names if text(meta.get(key))), {})


@dataclass(frozen=True, slots=True)
class _Server:
    """Asks a server."""

    url: str
    headers: Mapping[str, str]
    folder: Path
    client: HttpClient

    def begin(self, api: Mapping[str, str], project: str, since: datetime, until: datetime) -> _State:
        """Return the state before the first page."""
        if api["by name"] and not project.isdecimal():
            project = self._id_of(project, api["by name"])
        values: dict[str, Any] = {"project": quote(project, safe="")}
        for name, at in (("since", since), ("until", until)):
            values |= {name: f"{at:%Y-%m-%dT%H:%M:%SZ}", f"{name}_ms": at.timestamp() * 1000}
        lists = [[path % values for path in others.split(" else ")] for others in api["lists"].split(" and ")]
        return _State(since, until, lists)

    def pages(self, state: _State) -> Iterator[tuple[int, bytes]]:
        """Yield the number and the content of each page, if it has any, and set the state after it."""
        seen = [state.cursor]
        while state.lists:
            path, *instead = state.lists[0]
            answer = self._ask(path, state.cursor, _ABSENT if instead and not state.cursor else ())
            if answer is None:
                state.lists[:1] = [[other] for other in instead]
                continue
            lists = [value for value in answer.values() if isinstance(value, list)]
            if answer and not (lists and all(len(objects(value)) == len(value) for value in lists)):
                raise self._error("its answer is not a list of traces")
            try:
                page = json.dumps(self._whole(path, answer)).encode() if any(lists) else b""
            except RecursionError as error:
                raise self._error("its answer is nested too deeply") from error
            state.n_pages += 1
            state.cursor = _next(answer)
            if (state.cursor and state.cursor in seen) or state.n_pages > _MAX_PAGES:
                raise self._error("its pages have no end")
            seen.append(state.cursor)
            if not state.cursor:
                state.lists.pop(0)
                seen.clear()
            yield state.n_pages, page

    def _whole(self, path: str, page: dict[str, Any]) -> Any:
        """A page with what the server keeps apart: spans of traces, annotations of spans."""
        if "/mlflow/" in path:
            ids = [id for info in objects(page.get("traces")) if (id := text(info.get("trace_id")))]
            query = urlencode({"trace_ids": ids}, doseq=True)
            stored = self._ask(f"/api/3.0/mlflow/traces/batchGet?{query}", {}, _IN_FILES)
            file = "/ajax-api/3.0/mlflow/get-trace-artifact?request_id="
            return stored or [page, *(self._ask(f"{file}{quote(id)}", {}, _IN_FILES) for id in ids)]
        base, is_phoenix, _ = path.partition("/spans?")
        for kind in ("span", "trace") if is_phoenix else ():
            self._annotate(objects(page.get("data")), f"{kind}_id", f"{base}/{kind}_annotations")
        return page

    def _annotate(self, spans: list[dict[str, Any]], id: str, path: str) -> None:
        """Give spans their annotations, or the first span of a trace those of the trace."""
        holders = dict[str, dict[str, Any]]()
        for span in spans:
            context = span.get("context")
            holders.setdefault(str(context.get(id)) if isinstance(context, dict) else "", span)
        query = urlencode({f"{id}s": list(holders), "limit": 10_000}, doseq=True)
        for annotation in objects((self._ask(f"{path}?{query}", {}, _ABSENT) or {}).get("data")):
            holder = holders.get(str(annotation.get(id)), {})
            holder["annotations"] = [*listed(holder.get("annotations")), annotation]

    def _id_of(self, project: str, path: str) -> str:
        answer = self._ask(f"{path}{quote(project, safe='')}", {}, _ABSENT) or {}
        held = (*objects(answer.get("data")), *objects([answer.get("experiment")]), {})[0]
        id = text(first(held, "id", "experiment_id"))
        if id is None:
            raise self._error(f"has no project {project!r}")
        return id

    def _ask(self, path: str, cursor: Mapping[str, str], absent: Collection[int]) -> dict[str, Any] | None:
        """The object in an answer; None for some statuses. Waits as often and as long as it may."""
        address, brace, body = path.partition("{")
        query = f"&{urlencode(cursor)}" if cursor and not brace else ""
        request = HttpRequest(
            method="POST" if brace else "GET",
            url=f"{self.url}{address}{query}",
            headers=self.headers,
            json={**json.loads(brace + body), **cursor} if brace else None,
        )
        for wait_s in (*_WAITS_S, None):
            try:
                answer = self.client.exchange(request, timeout_s=_TIMEOUT_S, max_bytes=_MAX_BYTES)
            except ExchangeError as error:
                raise self._error(str(error)) from error
            if answer.status not in (429, 503) or wait_s is None:
                break
            asked = answer.headers.get("retry-after", "")
            is_number = asked.isascii() and asked.isdecimal()
            sleep(min(float(asked), _LONGEST_WAIT_S) if is_number else wait_s)
        if answer.status in absent:
            return None
        if answer.status != 200:
            refused = ", it refuses the key" if answer.status in (401, 403) else ""
            raise self._error(f"answers HTTP {answer.status}{refused}")
        try:
            value = decode_trace(answer.content)
        except ValueError as error:
            raise self._error("its answer is not JSON") from error
        return value if isinstance(value, dict) else {"data": value}

    def _error(self, message: str) -> PullError:
        again = f"run it again to go on there, or remove {self.folder} first to begin again"
        return PullError(f"{self.url}: {message}; {again}")
