"""Runs as callers see them."""

from dataclasses import fields
from typing import Any

import msgspec
from starlette.responses import Response

from coreloop.answer.research.answer import HTTP_STATUS, AgentResponse, ending, respond
from coreloop.answer.research.research_state import ASK as ANSWER
from coreloop.answer.research.research_state import KIND as RESEARCH
from coreloop.runs.manage import read_run
from coreloop.runs.state import State, state_json
from coreloop.web.bodies import AskReply, RunReply
from coreloop.web.problems import Problem, error_response
from coreloop.web.service import Service


def run_reply(state: State) -> RunReply:
    """Return a run with its answer, or what it has of it."""
    answer = answer_in(state)
    return RunReply(state_json(state), None if answer is None else msgspec.to_builtins(answer))


def answer_in(state: State) -> AgentResponse | AskReply | None:
    """Return the answer of a run, whole or partial; None for a kind of run that answers nothing."""
    if state.kind == RESEARCH:
        return respond(state)
    return ask_reply(respond(state)) if state.kind == ANSWER else None


def ask_reply(answer: AgentResponse) -> AskReply:
    """Return an answer with the id that replays know it by."""
    whole = {part.name: getattr(answer, part.name) for part in fields(AgentResponse)}
    return AskReply(**whole, request_id=answer.run_id)


def end_of(service: Service, run_id: str) -> tuple[str, Any]:
    """Return what a stream ends with: ``answer`` and the status and the answer of a run, or ``error``."""
    state = read_run(service.store, run_id)
    if state.status == "failed":
        return "error", error_response(failed(state))
    answer = answer_in(state)
    end = {
        "run_id": run_id,
        "status": state.status,
        "stop_reason": state.stop_reason,
        "response": answer,
    }
    if answer is not None and answer.error:
        return "error", {"error": answer.error, **end}
    return "answer", end


def final_answer(service: Service, run_id: str) -> AgentResponse | AskReply | Response:
    """Return the answer of an ended run, with the status of its end.

    Raises
    ------
    Problem
        The run has failed.
    """
    state = read_run(service.store, run_id)
    answer = answer_in(state)
    if answer is None or state.status == "failed":
        raise failed(state)
    if answer.error is None:
        return answer
    return Response(msgspec.json.encode(answer), HTTP_STATUS[answer.end], media_type="application/json")


def failed(state: State) -> Problem:
    """Build what a caller gets of a failed run: the kind of the model's error, if it was one."""
    failure = state.failure
    is_retryable = failure.is_retryable if failure.kind else True
    message = f"run {state.run_id} {ending(state)}"
    return Problem(502, failure.kind or "failed", message, retryable=is_retryable)
