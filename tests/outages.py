"""Load on two services with one Postgres that is restarted meanwhile, and what became of each request."""

import json
import threading
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import httpx2

from coreloop.base.project.workspace import open_workspace
from coreloop.runs.events import StepCommitted
from coreloop.runs.jobs.queue import open_queue
from coreloop.runs.stores.store import open_store
from postgres_servers import PostgresServer
from researching import project
from serving import UNBOUNDED, Served, served, until

_AGAIN_S = 0.2
_BACK_S = 120.0
"""A worker whose process lost the database has a lease of 30 seconds, and a failed attempt waits 2 to 32."""


@dataclass
class Outcome:
    """What became of the requests.

    Attributes
    ----------
    statuses : Counter of int
        Responses by status; a connection that was closed counts as 0.
    unanswered : list of str
        Questions that never got an answer.
    lost, doubled : list of str
        Questions without an ended run, and those with two runs; runs that did a step twice.
    records : Counter of str
        Records of each ended run.
    unfinished : dict of str to int
        Jobs that are neither done nor for a later day, by status.
    log : Counter of str
        Lines of the services' logs that are no requests and iterations, by event.
    """

    statuses: Counter[int] = field(default_factory=Counter)
    unanswered: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)
    records: Counter[str] = field(default_factory=Counter)
    unfinished: dict[str, int] = field(default_factory=dict)
    log: Counter[str] = field(default_factory=Counter)

    @property
    def problems(self) -> dict[str, object]:
        """What must not have happened; empty if all went well."""
        found = {
            "statuses": {status: n for status, n in self.statuses.items() if status not in {200, 503}},
            "unanswered": self.unanswered,
            "lost": self.lost,
            "doubled": self.doubled,
            "records": {run: n for run, n in self.records.items() if n != 1},
            "unfinished": self.unfinished,
            "bugs": self.log["bug"],
        }
        return {name: value for name, value in found.items() if value}


def restarted_under_load(
    folder: Path,
    server: PostgresServer,
    *,
    seconds: float,
    stops: Sequence[str] = ("fast", "immediate"),
    clients: int = 8,
    away_s: float = 3.0,
    lease_s: float | None = None,
) -> Outcome:
    """Ask two services all the time while their Postgres is stopped and started, evenly over the time.

    Parameters
    ----------
    folder : Path
        Empty.
    server : PostgresServer
        With an empty database.
    seconds : float
        Of the load.
    stops : sequence of str
        How the database is stopped each time, see `PostgresServer.stop`.
    clients : int
        Threads that ask one question after another, each until it is answered.
    away_s : float
        How long the database is away.
    lease_s : float or None
        How long a service that lost the database holds its jobs; None for as long as any service does.
    """
    environ, outcome = {"CORELOOP_DATABASE_URL": server.address}, Outcome()
    project(folder)
    served_twice = [served(folder, environ=environ, lease_s=lease_s, bounds=UNBOUNDED) for _ in range(2)]
    with ExitStack() as stack:
        services = [stack.enter_context(service) for service in served_twice]
        load = _Load(services, outcome)
        load.start(clients)
        for stop in stops:
            time.sleep(seconds / (len(stops) + 1))
            server.stop(stop)
            time.sleep(away_s)
            server.start()
        time.sleep(seconds / (len(stops) + 1))
        load.end()
        _wait_until_done(folder, environ, outcome)
        for service in services:
            outcome.log.update(
                line["event"] for line in service.lines if line["event"] not in {"request", "iteration"}
            )
    _examine(folder, environ, load.questions, outcome)
    return outcome


class _Load:
    """Clients that ask until they are told to end."""

    def __init__(self, services: Sequence[Served], outcome: Outcome) -> None:
        self._services = services
        self._outcome = outcome
        self._lock = threading.Lock()
        self._is_over = threading.Event()
        self._threads: list[threading.Thread] = []
        self.questions: list[str] = []

    def start(self, clients: int) -> None:
        self._threads = [threading.Thread(target=self._ask_on, args=(n,)) for n in range(clients)]
        for thread in self._threads:
            thread.start()

    def end(self) -> None:
        self._is_over.set()
        for thread in self._threads:
            thread.join()

    def _ask_on(self, number: int) -> None:
        with self._services[number % len(self._services)].client() as client:
            while not self._is_over.is_set():
                self._ask(client)

    def _ask(self, client: httpx2.Client) -> None:
        with self._lock:
            question = f"How long is the Han river, case {len(self.questions)}?"
            self.questions.append(question)
        begun = time.monotonic()
        while self._status(client, question) != 200:
            if time.monotonic() - begun > _BACK_S:
                with self._lock:
                    self._outcome.unanswered.append(question)
                return
            time.sleep(_AGAIN_S)

    def _status(self, client: httpx2.Client, question: str) -> int:
        """Ask under a key, so that the same question again is the same run."""
        try:
            response = client.post(
                "/run-simple", json={"task": question}, headers={"Idempotency-Key": question}, timeout=_BACK_S
            )
            status = response.status_code
        except httpx2.HTTPError:
            status = 0
        with self._lock:
            self._outcome.statuses[status] += 1
        return status


def _wait_until_done(folder: Path, environ: dict[str, str], outcome: Outcome) -> None:
    with open_queue(open_workspace(folder), environ=environ) as queue:

        def unfinished() -> dict[str, int]:
            counts = queue.metrics().by_status
            return {name: n for name, n in counts.items() if n and name != "done"}

        try:
            until(lambda: not unfinished(), _BACK_S)
        except AssertionError:
            outcome.unfinished = unfinished()


def _examine(folder: Path, environ: dict[str, str], questions: Sequence[str], outcome: Outcome) -> None:
    with open_store(open_workspace(folder), environ=environ) as store:
        rows = store.runs(kind="research")
        for row in rows:
            events = (event for _, event in store.read(row.run_id))
            steps = Counter(event.key for event in events if isinstance(event, StepCommitted))
            if set(steps.values()) - {1}:
                outcome.doubled.append(row.run_id)
    ended = {row.question for row in rows if row.status in {"completed", "stopped"}}
    outcome.lost += sorted(set(questions) - ended)
    asked = Counter(row.question for row in rows)
    outcome.doubled += [question for question, number in asked.items() if number > 1]
    outcome.records = Counter({row.run_id: 0 for row in rows})
    for path in (folder / "data" / "audit" / "own").glob("*.jsonl"):
        outcome.records.update(json.loads(line)["request_id"] for line in path.read_bytes().splitlines())
