"""What requests and responses contain. Unknown fields are refused by name."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta

from coreloop.answer.models.contracts import Tier
from coreloop.answer.repair.feedback import MAX_REASON_CHARS
from coreloop.answer.repair.jobs import DayMetrics
from coreloop.answer.research.answer import AgentResponse
from coreloop.answer.research.run import MAX_QUESTION_CHARS
from coreloop.runs.jobs.queue import Job
from coreloop.runs.jobs.queue import Status as JobStatus

Question = Annotated[str, Meta(min_length=1, max_length=MAX_QUESTION_CHARS)]
Count = Annotated[int, Meta(ge=1, le=1_000_000)]
RunId = Annotated[str, Meta(pattern="^[0-7][0-9A-HJKMNP-TV-Z]{25}$")]
RUN_ID: Final = "01J0000000000000000000000A"
"""The id of the run in examples; no run has it."""


class Body(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """JSON of a request."""


class WaitOptions(Body, frozen=True, kw_only=True):
    """How to wait for an answer.

    Attributes
    ----------
    stream : bool
        Answer with server-sent events.
    async_ : bool
        Answer 202 at once; ``GET /runs/{run_id}`` has the answer later.
    """

    stream: bool = False
    async_: bool = msgspec.field(name="async", default=False)

    def __post_init__(self) -> None:
        if self.stream and self.async_:
            raise ValueError("stream and async exclude each other")


class SimpleRequest(WaitOptions, frozen=True, kw_only=True):
    """A question to research."""

    task: Question


class RunRequest(SimpleRequest, frozen=True, kw_only=True):
    """A question, what its research may use, and how to wait for its answer.

    Attributes
    ----------
    complexity_tier : str or None
        None for what the plan says.
    max_iters, max_queries, max_sources, max_execution_time_s, token_budget
        Iterations, executed queries, sources read, seconds of work and tokens; None for what the tier says.
    session : str or None
        A research of the same question that was paused or left, to go on with, or an answer to deepen.
    """

    complexity_tier: Tier | None = None
    max_iters: Count | None = None
    max_queries: Count | None = None
    max_sources: Count | None = None
    max_execution_time_s: Annotated[float, Meta(gt=0, le=86_400)] | None = None
    token_budget: Annotated[int, Meta(ge=1, le=1_000_000_000)] | None = None
    session: RunId | None = None


class AskRequest(WaitOptions, frozen=True, kw_only=True):
    """A question to answer.

    Attributes
    ----------
    question : str
        The question.
    session : str
        Id of the conversation; "" for a new one.
    repair : bool
        Whether a failed answer is repaired at once.
    origin : str
        ``replay`` if `dartlab-coreloop verify` asks: nothing is recorded then, and nothing repaired.
    """

    question: Question
    session: Annotated[str, Meta(max_length=100)] = ""
    repair: bool = True
    origin: Literal["user", "replay"] = "user"


class FeedbackRequest(Body, frozen=True, kw_only=True):
    """What a person says of an answer: ``up``, ``down``, or a number from 0 to 1."""

    id: Annotated[str, Meta(min_length=1, max_length=100)]
    value: Literal["up", "down"] | Annotated[float, Meta(ge=0, le=1)]
    reason: Annotated[str, Meta(max_length=MAX_REASON_CHARS)] = ""


class SearchRequest(Body, frozen=True, kw_only=True):
    """A search of the index."""

    query: Annotated[str, Meta(max_length=MAX_QUESTION_CHARS)]
    limit: Annotated[int, Meta(ge=1, le=100)] = 10


class RunsQuery(Body, frozen=True, kw_only=True):
    """Which runs to list."""

    kind: str = ""
    status: str = ""
    limit: Annotated[int, Meta(ge=1, le=1_000)] = 20


class JobsQuery(Body, frozen=True, kw_only=True):
    """Which jobs to list."""

    status: JobStatus | None = None
    limit: Annotated[int, Meta(ge=1, le=1_000)] = 20


class NoQuery(Body, frozen=True, kw_only=True):
    """No parameters."""


class SourceReply(msgspec.Struct, frozen=True, kw_only=True):
    """A passage that was found; see `coreloop.answer.search.provider.Source`."""

    title: str
    location: str
    type: str
    text: str
    line: int | None = None
    published: str | None = None
    provider: str = ""


class SearchReply(msgspec.Struct, frozen=True):
    """Passages, best first; ``note`` says how many changed files were not read."""

    sources: tuple[SourceReply, ...]
    note: str = ""


class RunRowReply(msgspec.Struct, frozen=True, kw_only=True):
    """A run in a list."""

    run_id: str
    kind: str
    mode: str
    question: str
    status: str
    stop_reason: str | None
    iteration: int
    cost_usd: float
    tokens: int
    created_at: datetime
    updated_at: datetime


class RunsReply(msgspec.Struct, frozen=True):
    """Runs, the newest first."""

    runs: tuple[RunRowReply, ...]


class RunReply(msgspec.Struct, frozen=True):
    """A run: its ``state.json``, and its answer or what it has of it."""

    state: dict[str, Any]
    response: dict[str, Any] | None = None


class Accepted(msgspec.Struct, frozen=True):
    """A run that a worker works on, or will."""

    run_id: str
    job_id: str


class StatusReply(msgspec.Struct, frozen=True):
    """The status of a run after it was told something."""

    run_id: str
    status: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AskReply(AgentResponse):
    """An answer; ``request_id`` is its run, and the request of its record."""

    request_id: str


class JobsReply(msgspec.Struct, frozen=True):
    """Jobs, the newest first."""

    jobs: tuple[Job, ...]


class Share(msgspec.Struct, frozen=True):
    """A gate on a day (UTC): how many of how many were good."""

    day: str
    gate: str
    share: float
    good: int
    total: int


class SeriesReply(msgspec.Struct, frozen=True):
    """Gates and what happened to answers by day, the newest first; the share of jobs done again."""

    series: tuple[Share, ...]
    days: tuple[DayMetrics, ...]
    retry_rate: float


class Health(msgspec.Struct, frozen=True):
    """The process answers, or is ready for requests."""

    status: Literal["ok"] = "ok"


class VersionReply(msgspec.Struct, frozen=True):
    """The version of coreloop, and the model that is asked."""

    version: str
    model: str
