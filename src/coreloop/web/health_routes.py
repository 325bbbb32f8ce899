"""The routes for what operates a service: health, version, metrics."""

from datetime import UTC, datetime
from typing import get_args

from starlette.responses import Response

from coreloop import __version__
from coreloop.answer.repair.metrics import read_days, read_metrics
from coreloop.answer.repair.tables import Gate
from coreloop.web.bodies import Health, SeriesReply, Share, VersionReply
from coreloop.web.metrics import CONTENT_TYPE
from coreloop.web.problems import leaving
from coreloop.web.route import HttpCall


async def healthz(_call: HttpCall) -> Health:
    """Say that the process answers; no database has a part in it, since a restart would not repair one."""
    return Health()


async def readyz(call: HttpCall) -> Health:
    """Say whether requests can be answered: the databases and the index can be read."""
    if call.service.shutdown.is_set():
        raise leaving()
    await call.service.readiness.require()
    return Health()


def version(call: HttpCall) -> VersionReply:
    """Return versions."""
    return VersionReply(__version__, call.service.deps.ladder.name)


def series(call: HttpCall) -> SeriesReply:
    """Return the gates of repair, and what happened to answers, by day."""
    deps, now = call.service.deps, datetime.now(UTC)
    kept = (snapshot for gate in get_args(Gate) for snapshot in deps.tables.snapshots(gate))
    newest_first = sorted(kept, key=lambda snapshot: (snapshot.day, snapshot.gate), reverse=True)
    gates = (
        Share(snapshot.day.isoformat(), snapshot.gate, snapshot.share, snapshot.good, snapshot.total)
        for snapshot in newest_first
    )
    return SeriesReply(
        series=tuple(gates),
        days=tuple(read_days(deps, now=now)),
        retry_rate=read_metrics(deps, now=now).retry_rate,
    )


def metrics(call: HttpCall) -> Response:
    """Return the figures for Prometheus."""
    numbers = read_metrics(call.service.deps, now=datetime.now(UTC))
    return Response(call.service.metrics.text(numbers), media_type=CONTENT_TYPE)
