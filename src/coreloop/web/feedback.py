"""The routes of feedback: what a person says of an answer, and the better answer that follows."""

from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from coreloop.answer.repair.feedback import Notice, give_feedback, wait_for_notice
from coreloop.answer.repair.tables import Feedback
from coreloop.web.bodies import FeedbackRequest
from coreloop.web.problems import Problem
from coreloop.web.route import Call
from coreloop.web.running import stream_of


def give(call: Call) -> Feedback:
    """Store what a person says; a rejected answer is answered again by a worker."""
    body: FeedbackRequest = call.body
    said = give_feedback(call.service.deps, body.id, body.value, reason=body.reason)
    if said.mended_by:
        call.service.spending.begin(call.caller, said.mended_by)
    call.service.workers.wake()
    return said


def notice(call: Call) -> Notice:
    """Return the better answer to a rejected one, or how far it is."""
    return wait_for_notice(call.service.deps, call.path("answer_id"), 0)


async def notice_events(call: Call) -> Response:
    """Stream the work on the better answer."""
    said = await run_in_threadpool(call.service.deps.tables.feedback_of, call.path("answer_id"))
    run_id = next((one.mended_by for one in said if one.mended_by), "")
    if not run_id:
        raise Problem(404, "not_found", "nobody rejected this answer")
    return await stream_of(call, run_id)
