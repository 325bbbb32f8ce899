"""The scripted agent: calls the tools as a request's plan says, and tells a collector what happened."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import cast

from coreloop.demo.plan import PlannedStep, Ranked, Request
from coreloop.demo.prose import Result, compose_answer, find_violation, render_result
from coreloop.demo.script import scripted_requests
from coreloop.observe import AuditCollector

__all__ = ["PlannedStep", "Request", "ScriptedAnswer", "answer", "scripted_requests"]

Tools = Mapping[str, Callable[..., object]]

# What the tools' docstrings promise to raise, and TypeError for a forgotten argument. Anything else is a
# defect of the demo and must show.
_TOOL_ERRORS = (LookupError, TypeError, ValueError)


@dataclass(frozen=True, slots=True)
class ScriptedAnswer:
    """What the user got: the text, or the error in its place, and the rule that the text breaks."""

    text: str
    error: str | None = None
    violation: str | None = None
    n_calls: int = 0
    n_failed_calls: int = 0


def answer(request: Request, tools: Tools, collector: AuditCollector) -> ScriptedAnswer:
    """Answer one request by really calling the tools of its plan.

    Parameters
    ----------
    request : Request
        From ``scripted_requests``.
    tools : Mapping
        Tool name to function.
    collector : AuditCollector
        Opened for this request by the caller; flushed here.

    Returns
    -------
    ScriptedAnswer
        ``len(text)`` is the ``chunk_len`` that was recorded. A failed tool call is not an error of the
        request: the agent recovers, or says that it gave up.
    """
    work = _Work(tools, collector)
    finished = all(work.take(step) for step in request.plan)
    given = (
        ScriptedAnswer("", error=request.outage)
        if request.outage
        else _write(request, work, finished=finished)
    )
    if given.violation:
        collector.observe_violation(given.violation)
    collector.flush(chunk_len=len(given.text), error=given.error)
    return replace(given, n_calls=work.n_calls, n_failed_calls=work.n_failed_calls)


def _write(request: Request, work: "_Work", *, finished: bool) -> ScriptedAnswer:
    lines = [
        line
        for tool, result in work.results
        for line in render_result(tool, result, language=request.language)
    ]
    text = compose_answer(lines, language=request.language, closing=request.closing, gave_up=not finished)
    return ScriptedAnswer(text=text, violation=find_violation(text, lines))


@dataclass(slots=True)
class _Work:
    """One request under way: what the calls have returned so far."""

    tools: Tools
    collector: AuditCollector
    results: list[tuple[str, Result]] = field(default_factory=list)
    n_calls: int = 0
    n_failed_calls: int = 0

    def take(self, step: PlannedStep) -> bool:
        """Make the step's call, and what it says about a failure or a flag; false when the agent is stuck."""
        args = {name: self._resolve(value) for name, value in step.args.items()}
        result = self._call(step, args)
        if result is None:
            return step.recovery is not None and self.take(step.recovery)
        if result.get("flags") and step.override:
            self._override(step, args, trigger=f"extreme_flag:{result['flags'][0]}")
        return True

    def _override(self, step: PlannedStep, args: dict[str, object], *, trigger: str) -> None:
        overrides = dict(step.override or {})
        result = self._call(step, {**args, "overrides": overrides})
        cleared = result is not None and not result["flags"]
        self.collector.observe_override(step.tool, sorted(overrides), trigger=trigger, succeeded=cleared)

    def _call(self, step: PlannedStep, args: dict[str, object]) -> Result | None:
        self.n_calls += 1
        try:
            result = cast(Result, self.tools[step.tool](**args))
        except _TOOL_ERRORS as exc:
            self.n_failed_calls += 1
            self._observe(step, args, error=f"{type(exc).__name__}: {exc}")
            return None
        self.results.append((step.tool, result))
        self._observe(step, args, result=result)
        return result

    def _observe(
        self,
        step: PlannedStep,
        args: dict[str, object],
        *,
        result: Result | None = None,
        error: str | None = None,
    ) -> None:
        overrides = args.get("overrides")
        self.collector.observe_tool_call(
            step.tool,
            args,
            ok=error is None,
            error=error,
            duration_ms=step.duration_ms,
            result_size_bytes=len(json.dumps(result, ensure_ascii=False).encode()) if result else 0,
            overrides_used=sorted(overrides) if isinstance(overrides, dict) else None,
            extreme_flags=list(result.get("flags", ())) if result else [],
            result=result,
        )

    def _resolve(self, value: object) -> object:
        if isinstance(value, Ranked):
            return self._ranking()[value.place]
        return [self._resolve(item) for item in value] if isinstance(value, list) else value

    def _ranking(self) -> list[str]:
        scans = [result for tool, result in self.results if tool == "scan"]
        return [row["company"] for row in scans[-1]["rows"]]
