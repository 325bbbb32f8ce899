"""The routes of the service."""

from typing import Any, Final

from coreloop.answer.repair.feedback import Notice
from coreloop.answer.repair.tables import Feedback
from coreloop.answer.research.answer import AgentResponse
from coreloop.runs.jobs.job import Job
from coreloop.web import answer_routes, health_routes, run_routes
from coreloop.web.bodies import (
    RUN_ID,
    Accepted,
    AskReply,
    AskRequest,
    FeedbackRequest,
    Health,
    JobsQuery,
    JobsReply,
    RunReply,
    RunRequest,
    RunsQuery,
    RunsReply,
    SearchReply,
    SearchRequest,
    SeriesReply,
    SimpleRequest,
    StatusReply,
    VersionReply,
)
from coreloop.web.metrics import CONTENT_TYPE
from coreloop.web.openapi import describe
from coreloop.web.route import HttpCall, Route

_LATER: Final = {202: Accepted}
_EVENTS: Final = "text/event-stream"


async def openapi(_call: HttpCall) -> dict[str, Any]:
    """Return the description of this API."""
    return describe(ROUTES)


ROUTES: Final[tuple[Route, ...]] = (
    Route(
        method="POST",
        path="/run",
        handler=answer_routes.run,
        scope="run",
        summary="Research a question.",
        body=RunRequest,
        reply=AgentResponse,
        also=_LATER,
        example={"task": "How long is the Han river?", "max_iters": 2},
    ),
    Route(
        method="POST",
        path="/run-simple",
        handler=answer_routes.run_simple,
        scope="run",
        summary="Research a question with the least effort.",
        body=SimpleRequest,
        reply=AgentResponse,
        also=_LATER,
        example={"task": "How long is the Han river?"},
    ),
    *(
        Route(
            method="POST",
            path=path,
            handler=answer_routes.ask,
            name=name,
            scope="run",
            summary="Answer a question from the project's files, and repair a failed answer.",
            body=AskRequest,
            reply=AskReply,
            also=_LATER,
            example={"question": "How long is the Han river?"},
        )
        for path, name in (("/ask", "ask"), ("/api/ask", "api_ask"))
    ),
    Route(
        method="POST",
        path="/feedback",
        handler=answer_routes.give,
        name="feedback",
        scope="run",
        summary="Say whether an answer was good.",
        body=FeedbackRequest,
        reply=Feedback,
        example={"id": RUN_ID, "value": "down", "reason": "It is out of date."},
    ),
    Route(
        method="GET",
        path="/feedback/{answer_id}",
        handler=answer_routes.notice,
        summary="Show the better answer to a rejected one, or how far it is.",
        reply=Notice,
    ),
    Route(
        method="GET",
        path="/feedback/{answer_id}/events",
        handler=answer_routes.notice_events,
        summary="Stream the work on the better answer.",
        media_type=_EVENTS,
    ),
    Route(
        method="POST",
        path="/search",
        handler=answer_routes.search,
        summary="Search the index.",
        body=SearchRequest,
        reply=SearchReply,
        example={"query": "river", "limit": 3},
    ),
    Route(
        method="GET",
        path="/runs",
        handler=run_routes.list_runs,
        summary="List runs, the newest first.",
        query=RunsQuery,
        reply=RunsReply,
    ),
    Route(
        method="GET",
        path="/runs/{run_id}",
        handler=run_routes.show_run,
        summary="Show a run and its answer.",
        reply=RunReply,
    ),
    Route(
        method="GET",
        path="/runs/{run_id}/events",
        handler=run_routes.run_events,
        summary="Stream what happens to a run.",
        media_type=_EVENTS,
        also={204: None},
    ),
    *(
        Route(
            method="POST",
            path=f"/runs/{{run_id}}/{handler.__name__}",
            handler=handler,
            scope="run",
            summary=summary,
            reply=StatusReply,
        )
        for handler, summary in (
            (run_routes.pause, "Let a run stop after its iteration."),
            (run_routes.resume, "Let a paused run go on."),
            (run_routes.stop, "End a run."),
        )
    ),
    Route(
        method="GET",
        path="/jobs",
        handler=answer_routes.list_jobs,
        summary="List jobs, the newest first.",
        query=JobsQuery,
        reply=JobsReply,
    ),
    Route(
        method="GET",
        path="/jobs/{job_id}",
        handler=answer_routes.show_job,
        summary="Show a job.",
        reply=Job,
    ),
    Route(
        method="GET",
        path="/api/metrics/cbo/series",
        handler=health_routes.series,
        summary="Gates of repair, evidence, feedback and notices by day, the newest first.",
        reply=SeriesReply,
    ),
    Route(
        method="GET",
        path="/metrics",
        handler=health_routes.metrics,
        summary="Figures for Prometheus.",
        media_type=CONTENT_TYPE,
    ),
    Route(
        method="GET",
        path="/healthz",
        handler=health_routes.healthz,
        scope=None,
        summary="Say that the process answers.",
        reply=Health,
    ),
    Route(
        method="GET",
        path="/readyz",
        handler=health_routes.readyz,
        scope=None,
        summary="Say whether requests can be answered.",
        reply=Health,
    ),
    Route(
        method="GET",
        path="/openapi.json",
        handler=openapi,
        summary="The description of this API.",
        reply=dict[str, Any],
    ),
    Route(
        method="GET",
        path="/version",
        handler=health_routes.version,
        summary="Return the version and the model.",
        reply=VersionReply,
    ),
)
