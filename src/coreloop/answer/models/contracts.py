"""What models are sent and answer, and what leaves the process; JSON Schemas are in ``docs/schemas/``."""

from datetime import datetime
from typing import Annotated, Any, Final, Literal

import msgspec

Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
Text = Annotated[str, msgspec.Meta(min_length=1)]
Tier = Literal["simple", "standard", "deep"]


class Contract(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """JSON with known keys. Unknown keys are ignored: models add them."""


class PlannedQuery(Contract, frozen=True):
    """A search to execute, and what it is for."""

    query: Text
    intent: str


class ReplyMetadata(Contract, frozen=True):
    """Where a reply comes from."""

    timestamp: datetime
    model: str
    token_count: Annotated[int, msgspec.Meta(ge=0)]


class PlanResponse(Contract, frozen=True):
    """The plan of a run."""

    queries: tuple[PlannedQuery, ...]
    sub_questions: tuple[Text, ...] = ()
    complexity_tier: Tier | None = None


class ReportedFinding(Contract, frozen=True):
    """A sentence, the sources that say so, and the sub-questions that it answers."""

    text: Text
    sources: tuple[str, ...]
    answers: tuple[str, ...] = ()
    hypothesis_id: str | None = None
    stance: Literal["supports", "contradicts", "neutral"] | None = None


class ReportedHypothesis(Contract, frozen=True):
    """A statement to test. Without an id it is new."""

    statement: Text
    id: str | None = None


class Uncertainty(Contract, frozen=True):
    """What is not known, and what would settle it."""

    text: Text
    needs: str


class ReflectionResponse(Contract, frozen=True):
    """What is known after an iteration, and what to do next."""

    sufficient: bool
    confidence: Share
    gaps: tuple[str, ...]
    new_queries: tuple[PlannedQuery, ...]
    metadata: ReplyMetadata
    findings: tuple[ReportedFinding, ...] = ()
    hypotheses: tuple[ReportedHypothesis, ...] = ()
    uncertainties: tuple[Uncertainty, ...] = ()
    missing: tuple[str, ...] = ()
    direct: str = ""
    roles: dict[str, str] = {}
    outsider: str = ""
    thesis: str = ""
    antithesis: str = ""
    synthesis: str = ""
    paths: dict[str, str] = {}


class Citation(Contract, frozen=True):
    """A source of an answer; the answer's text refers to its id."""

    id: Annotated[str, msgspec.Meta(pattern=r"^\[[1-9][0-9]*\]$")]
    title: str
    type: str
    location: Text


class SynthesisResponse(Contract, frozen=True):
    """The answer, with numbered citations."""

    answer: str
    citations: tuple[Citation, ...]
    metadata: ReplyMetadata


class CheckResponse(Contract, frozen=True):
    """The numbers of the sentences that their sources do not say."""

    unsupported: tuple[int, ...]


class ConfirmResponse(Contract, frozen=True):
    """Whether the sentences answer the question."""

    answers: bool


class CallReply(Contract, frozen=True):
    """The next call of a tool that a model would make."""

    tool: Text
    arguments: dict[str, Any] = msgspec.field(default_factory=dict)


class ErrorDetail(Contract, frozen=True):
    """What went wrong, and whether trying again can help."""

    type: Text
    message: str
    retryable: bool


class ErrorResponse(Contract, frozen=True):
    """The answer of a call that failed."""

    error: ErrorDetail


class LlmResponse(Contract, frozen=True):
    """An answer to a user's question."""

    intent: str
    answer: str
    citations: tuple[Citation, ...]
    confidence: Share
    actions: tuple[dict[str, Any], ...] = ()


class Envelope(Contract, frozen=True):
    """What leaves the process: signals, and answers to other programs."""

    id: Annotated[str, msgspec.Meta(pattern="^[0-7][0-9A-HJKMNP-TV-Z]{25}$")]
    type: Text
    timestamp: datetime
    trace_id: str
    payload: dict[str, Any]


# The files of ``docs/schemas/``; ``scripts/reference.py`` writes them.
SCHEMA_FILES: Final[dict[str, type[Contract]]] = {
    "MESSAGE_SCHEMA_V1.json": Envelope,
    "LLM_RESPONSE_JSON_V1.json": LlmResponse,
    "PLAN_RESPONSE_V1.json": PlanResponse,
    "REFLECTION_RESPONSE_V1.json": ReflectionResponse,
    "SYNTHESIS_RESPONSE_V1.json": SynthesisResponse,
    "ERROR_RESPONSE_V1.json": ErrorResponse,
}


def json_schema(contract: type[Contract]) -> dict[str, Any]:
    """Build the JSON Schema (2020-12) of a contract; its root is an object, as endpoints require."""
    parts = msgspec.json.schema(contract)["$defs"]
    root = parts.pop(contract.__name__)
    defs = {"$defs": parts} if parts else {}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **root, **defs}


class NumberedSource(Contract, frozen=True):
    """A source that an answer can cite as ``[number]``."""

    number: int
    title: str
    text: str
    type: str = "text"
    location: Text = "unknown"


class Material(Contract, frozen=True):
    """What a call is about.

    Attributes
    ----------
    question : str
        The user's.
    sub_questions : tuple of str
        What has to be answered; empty before the plan.
    sources : tuple of NumberedSource
        What was found, with different numbers from 1. Their texts are data, whatever they say.
    searched : tuple of str
        Queries that were executed already.
    notes : tuple of str
        Anything else that the model should know: findings so far, hypotheses with their ids.
    """

    question: str
    sub_questions: tuple[str, ...] = ()
    sources: tuple[NumberedSource, ...] = ()
    searched: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
