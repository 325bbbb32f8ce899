"""Traces from a server's API, page by page, as files for the readers of files.

A small file beside the pages says which comes next, so that an interrupted pull goes on there. The APIs, in
``servers.tsv``, are those of Langfuse 4, LangSmith (self-hosted: 0.16), Phoenix 20 and MLflow 3.
"""

import json
import shutil
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, date, datetime, time, timedelta
from hashlib import sha256
from pathlib import Path
from time import sleep
from typing import Any, Final
from urllib.parse import quote, urlencode

import msgspec

from coreloop.base.errors import CoreloopError, UsageError
from coreloop.base.files import locked, read_file, write_private
from coreloop.base.github.github_api import check_address
from coreloop.base.http import ExchangeError, HttpClient, HttpRequest, retry_after_s
from coreloop.base.validation import parse_json
from coreloop.observe.importers.trace_values import first, objects, text

_SERVERS: Final = Path(__file__).with_name("servers.tsv")
_OVERLAP: Final = timedelta(days=1)  # of two pulls: spans, scores and annotations come late
_FIRST: Final = timedelta(days=7) - _OVERLAP
_MAX_BYTES: Final = 64 << 20  # of an answer, which is held whole
_TIMEOUT_S: Final = 60.0  # chosen: a hundred traces with long texts take seconds
_WAITS_S: Final = (1.0, 4.0, 15.0, 60.0, None)  # after 429 and 503 that do not say how long
_LONGEST_WAIT_S: Final = 300.0  # chosen: whether to wait longer is for a person to decide
_AGAIN: Final = "run it again to go on where it ended, or with an earlier --since to begin again"


class PullError(CoreloopError):
    """A server gave no usable answer; the pages before are kept, and the next pull goes on there."""


class _State(msgspec.Struct):
    """How far a pull is: what it asks for, the list it reads, and the cursor of the next page."""

    since: datetime
    until: datetime
    n_lists_read: int = 0
    cursor: str = ""
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
    watching: Callable[[Iterable[bytes]], AbstractContextManager[Iterable[bytes]]],
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
    watching : callable
        Shows the progress.

    Yields
    ------
    list of Path
        Empty if the server has no traces.

    Raises
    ------
    UsageError
        The address cannot be asked, or the environment does not say which project is read.
    PullError
        The server gave no usable answer.
    WorkspaceError
        A page cannot be written.
    """
    names, *rows = (line.split("\t") for line in _SERVERS.read_text("utf-8").splitlines())
    api = next(dict(zip(names, row, strict=True)) for row in rows if row[0] == server)
    headers = _headers(api, environ)
    check_address(url, "--url", has_key=bool(headers))
    project = environ.get(api["project"]) or api["default"]
    if not project:
        raise UsageError(f"{api['project']} is not set; --from {server} --url needs it")
    folder = parent / f"{server}-{sha256(f'{url} {project}'.encode('utf-8', 'replace')).hexdigest()[:8]}"
    pages, path = folder / "pages", folder / "state"
    first_at = datetime.combine(since, time(), UTC) if since else None
    state = _State(now, now - _FIRST, is_imported=True)  # as if a pull had ended then
    with locked(folder), HttpClient() as client:
        if path.exists():
            state = msgspec.json.decode(read_file(path), type=_State)
        if state.is_imported or (first_at and first_at < state.since):
            state = _State(first_at or state.until - _OVERLAP, now)
        asked = _Server(url.rstrip("/"), api, headers, client)
        try:
            with watching(asked.pages(project, state)) as contents:
                for content in contents:
                    if content:
                        write_private(pages / f"{state.n_pages:05}.json", content)
                    write_private(path, msgspec.json.encode(state))
        except (ExchangeError, ValueError, RecursionError) as error:
            raise PullError(f"{url} gave no usable answer ({error}); {_AGAIN}") from error
        yield [pages] if pages.is_dir() else []
        state.is_imported = True
        write_private(path, msgspec.json.encode(state))
        shutil.rmtree(pages, ignore_errors=True)


def _headers(api: Mapping[str, str], environ: Mapping[str, str]) -> dict[str, str]:
    """The keys: two as a name and a password."""
    keys = [key for name in api["keys"].split() if (key := environ.get(name, "").strip())]
    if api["server"] == "langsmith" and keys:
        return {"x-api-key": keys[0]}
    pair = b64encode(":".join(keys[:2]).encode("utf-8", "replace")).decode()
    return {"Authorization": f"Basic {pair}" if len(keys) > 1 else f"Bearer {keys[0]}"} if keys else {}


class _Server(msgspec.Struct, frozen=True):
    """Asks a server."""

    url: str
    api: Mapping[str, str]
    headers: Mapping[str, str]
    client: HttpClient

    def pages(self, project: str, state: _State) -> Iterator[bytes]:
        """Yield the content of each page, if it has any, and set the state after it."""
        values: dict[str, Any] = {"project": quote(project, safe="")}
        for name, at in (("since", state.since), ("until", state.until)):
            values |= {name: f"{at:%Y-%m-%dT%H:%M:%SZ}", f"{name}_ms": at.timestamp() * 1000}
        lists = [path % values for path in self.api["lists"].split(" and ")]
        while state.n_lists_read < len(lists):
            path = lists[state.n_lists_read]
            answer = self._ask(path, state.cursor)
            items = first(answer, "data", "items", "traces")
            if answer and not isinstance(items, list):
                raise ExchangeError("broken", "no list of traces")
            content = json.dumps([answer, *self._kept_apart(path, objects(items))]) if items else ""
            [meta] = objects([answer.get("meta")]) or [answer]
            cursor = text(first(meta, "cursor", "next_cursor", "next_page_token")) or ""
            if cursor and cursor == state.cursor:
                raise ExchangeError("too_long", "pages without an end")
            state.n_pages, state.cursor = state.n_pages + 1, cursor
            state.n_lists_read += not cursor
            yield content.encode()

    def _kept_apart(self, path: str, items: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        """Yield the spans of traces of MLflow, and the annotations of Phoenix as spans that have them."""
        if "/mlflow/" in path:
            query = urlencode({"trace_ids": [item.get("trace_id") for item in items]}, doseq=True)
            yield self._ask(f"/api/3.0/mlflow/traces/batchGet?{query}")
        base, is_phoenix, _ = path.partition("/spans?")
        contexts = objects([item.get("context") for item in items])
        for id in ("span_id", "trace_id") if is_phoenix else ():
            traces = {str(context.get(id)): context.get("trace_id") for context in contexts}
            query = urlencode({f"{id}s": list(traces), "limit": 10_000}, doseq=True)
            answer = self._ask(f"{base}/{id.removesuffix('_id')}_annotations?{query}")
            for annotation in objects(answer.get("data")):
                context = {"trace_id": traces.get(str(annotation.get(id))), "span_id": annotation.get("id")}
                yield {"context": context, "time_unix_nano": 1, "annotations": [annotation]}

    def _ask(self, path: str, cursor: str = "") -> dict[str, Any]:
        """The object in an answer. Waits as often and as long as it may."""
        address, brace, body = path.partition("{")
        more = {self.api["cursor"]: cursor} if cursor else {}
        request = HttpRequest(
            method="POST" if brace else "GET",
            url=f"{self.url}{address}" if brace else f"{self.url}{address}&{urlencode(more)}",
            headers=self.headers,
            json={**json.loads(brace + body), **more} if brace else None,
        )
        for wait_s in _WAITS_S:
            answer = self.client.exchange(request, timeout_s=_TIMEOUT_S, max_bytes=_MAX_BYTES)
            asked_s = retry_after_s(answer)
            if answer.status not in (429, 503) or wait_s is None or (asked_s or 0) > _LONGEST_WAIT_S:
                break
            sleep(wait_s if asked_s is None else asked_s)
        if answer.status != 200:
            refused = f"; set {self.api['keys']}" if answer.status in (401, 403) else ""
            raise ExchangeError("broken", f"HTTP {answer.status} from {address.partition('?')[0]}{refused}")
        value = parse_json(answer.content)
        return value if isinstance(value, dict) else {"data": value}
