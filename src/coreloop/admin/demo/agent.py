"""The scripted agent: calls the tools of a request's plan and reports the calls to a collector."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import getitem
from typing import Any, TypeAlias

from coreloop.admin.demo.script import DemoRequest, FromResult, PlannedStep, Prose, read_script
from coreloop.observe import AuditCollector

Tools = Mapping[str, Callable[..., object]]
Result: TypeAlias = Any
"""The result of a tool: an object, or a list of objects."""

# The exceptions in the tools' docstrings, and TypeError for a missing argument. Any other exception is a bug
# of the demo and is not caught.
_TOOL_ERRORS = (LookupError, PermissionError, TypeError, ValueError)


@dataclass(frozen=True, slots=True)
class ScriptedAnswer:
    """The user's answer: a text, or an error instead, and the rule that the text breaks."""

    text: str
    error: str | None = None
    violation: str | None = None
    n_calls: int = 0
    n_failed_calls: int = 0


def answer(request: DemoRequest, tools: Tools, collector: AuditCollector) -> ScriptedAnswer:
    """Answer a request by really calling the tools of its plan.

    Parameters
    ----------
    request : DemoRequest
        A request of ``scripted_requests``.
    tools : Mapping
        Tool name to function.
    collector : AuditCollector
        Opened for this request by the caller; flushed here.

    Returns
    -------
    ScriptedAnswer
        ``len(text)`` is the recorded ``chunk_len``. A failed tool call is not an error of the request: the
        agent recovers, or says that it gave up.
    """
    work = _Work(tools, collector)
    finished = all(work.take(step) for step in request.plan)
    outcome = (
        ScriptedAnswer("", error=request.outage)
        if request.outage
        else _write(request, work, finished=finished)
    )
    if outcome.violation:
        collector.observe_violation(outcome.violation)
    collector.flush(chunk_len=len(outcome.text), error=outcome.error)
    return replace(outcome, n_calls=work.n_calls, n_failed_calls=work.n_failed_calls)


def _write(request: DemoRequest, work: "_Work", *, finished: bool) -> ScriptedAnswer:
    prose = read_script(Prose)
    lines = [line for tool, result in work.results for line in prose.result_lines(tool, result)]
    text = prose.compose_answer(lines, closing=request.closing, gave_up=not finished)
    return ScriptedAnswer(text=text, violation=prose.find_violation(text, lines))


@dataclass(slots=True)
class _Work:
    """A request in progress, with the results so far."""

    tools: Tools
    collector: AuditCollector
    results: list[tuple[str, Result]] = field(default_factory=list)
    n_calls: int = 0
    n_failed_calls: int = 0

    def take(self, step: PlannedStep) -> bool:
        """Make the step's call, then its recovery if it fails; False if the agent must give up."""
        args = {name: self._resolve(value) for name, value in step.args.items()}
        result = self._call(step, args)
        if result is None:
            return step.recovery is not None and self.take(step.recovery)
        return True

    def _call(self, step: PlannedStep, args: dict[str, object]) -> Result:
        self.n_calls += 1
        try:
            result = self.tools[step.tool](**args)
        except _TOOL_ERRORS as exc:
            self.n_failed_calls += 1
            self._observe(step, args, error=f"{type(exc).__name__}: {exc}")
            return None
        self.results.append((step.tool, result))
        self._observe(step, args, result=result)
        return result

    def _observe(
        self, step: PlannedStep, args: dict[str, object], *, result: Result = None, error: str | None = None
    ) -> None:
        size_bytes = 0 if result is None else len(json.dumps(result, ensure_ascii=False).encode())
        self.collector.observe_tool_call(
            step.tool,
            args,
            ok=error is None,
            error=error,
            duration_ms=step.duration_ms,
            result_size_bytes=size_bytes,
            result=result,
        )

    def _resolve(self, value: object) -> object:
        if isinstance(value, FromResult):
            last = [result for tool, result in self.results if tool == value.tool][-1]
            return reduce(getitem, value.path, last)
        return value
