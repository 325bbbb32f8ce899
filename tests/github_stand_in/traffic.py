"""What goes over the wire, how it can go wrong, and which of it only a human may send."""

import json
import re
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Request:
    verb: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: Any

    @property
    def line(self) -> str:
        return f"{self.verb} {self.path}"


@dataclass(frozen=True, slots=True)
class Reply:
    """`body` goes out as JSON, unless it is bytes."""

    status: int
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)

    def encoded(self) -> bytes:
        return self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()


@dataclass(frozen=True, slots=True)
class Fault:
    """How a request goes wrong.

    With `reply` that is the answer, without one the connection drops. `carried_out`: the request is obeyed
    first, only its answer goes wrong. `delay_s`: the answer comes late; alone, it is the right one.
    """

    reply: Reply | None = None
    delay_s: float = 0.0
    carried_out: bool = False


_HUMAN_PATHS = re.compile(r"/pulls/\d+/merge|/merges|/merge-upstream|/git/refs/|/pulls/\d+/ready_for_review")
_HUMAN_MUTATIONS = re.compile(
    r"mergePullRequest|mergeBranch|enablePullRequestAutoMerge|enqueuePullRequest|markPullRequestReadyForReview"
)
_MERGE_LABEL = re.compile(r"auto.?merge|merge.?when|ready.?to.?merge", re.IGNORECASE)


def is_for_humans(request: Request) -> bool:
    """Whether a request merges, lets something else merge, or marks ready for review."""
    if request.verb == "GET":
        return False
    sent = json.dumps(request.body)
    if request.path.endswith("/graphql"):
        return bool(_HUMAN_MUTATIONS.search(sent))
    if request.path.endswith("/labels"):
        return bool(_MERGE_LABEL.search(sent))
    undrafts = isinstance(request.body, dict) and request.body.get("draft") is False
    return undrafts or bool(_HUMAN_PATHS.search(request.path))
