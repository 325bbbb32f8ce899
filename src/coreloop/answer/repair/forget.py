"""What the tables of repair and the verdicts have of an answer, and its removal with the answer's run."""

from collections.abc import Mapping
from dataclasses import replace

import coreloop.answer.research.kind  # noqa: F401 (registers it)
from coreloop.answer.repair.store import has_repair_store, open_repair_store
from coreloop.answer.repair.tables import Feedback
from coreloop.answer.research.research_state import ASK
from coreloop.base.project.workspace import Workspace
from coreloop.observe.judgments import USER, HumanVerdict, VerdictLetter, take_back_verdict
from coreloop.runs.kinds import kind_named, register_kind
from coreloop.runs.state import State


def judgment_of(feedback: Feedback) -> HumanVerdict:
    """Return feedback as the verdict that the slow loop reads."""
    return HumanVerdict(
        id=feedback.message_id,
        key=None,
        verdict=VerdictLetter.PASS if feedback.kind == "up" else VerdictLetter.CAUTION,
        cause=feedback.reason or None,
        judged_at=feedback.created_at,
        judged_by=USER,
    )


def forget_answer(workspace: Workspace, state: State, *, environ: Mapping[str, str]) -> None:
    """Remove what people said of an answer, its gaps and its verdicts; again, it changes nothing."""
    if has_repair_store(workspace, environ):
        with open_repair_store(workspace, environ=environ) as tables:
            for feedback in tables.feedback_of(state.run_id):
                take_back_verdict(workspace.judgments_dir, judgment_of(feedback))
            tables.forget_answer(state.run_id, state.question)


def _forget(workspace: Workspace, state: State, address: str) -> None:
    forget_answer(workspace, state, environ={"CORELOOP_DATABASE_URL": address} if address else {})


register_kind(replace(kind_named(ASK), forget=_forget))
