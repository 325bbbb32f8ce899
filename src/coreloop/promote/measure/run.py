"""The use case: what lines do to a model's next call, on requests that were recorded."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Final

from coreloop.answer.models.choose_model import choose_model, model_names
from coreloop.answer.models.endpoints import ENDPOINTS, endpoint_url
from coreloop.answer.models.openai_compatible import OpenAICompatible
from coreloop.base.errors import UsageError
from coreloop.base.project.settings import Settings
from coreloop.base.project.workspace import Workspace
from coreloop.base.tempfiles import temporary_folder
from coreloop.learn.effect.named_failure import NamedFailure, named_failure
from coreloop.learn.proposals.statement_lines import parse_advice
from coreloop.promote.commits import WritableRepository
from coreloop.promote.measure.ask_model import Asker, BudgetSpentError, ModelCaller
from coreloop.promote.measure.contexts import (
    CallContext,
    CallContexts,
    NextCall,
    choose_contexts,
    is_against,
)
from coreloop.promote.measure.measured_lines import LineEdit, ToolText, refuse_difference, tools_of
from coreloop.promote.measure.measurement import Measurement, keep
from coreloop.promote.measure.verdict import (
    MeasureVerdict,
    Pair,
    compare_pairs,
    judge_difference,
    judge_model,
)
from coreloop.promote.reach import REACH_EXAMPLES
from coreloop.promote.replay import is_loopback
from coreloop.promote.tool_schemas import read_schema, schema_command

N_FIRST: Final = 20
"""Contexts that show first whether there is something to gain and whether the model can."""
N_ABOUT: Final = 80
"""Contexts that find 20 points in nine of ten measurements, asked once at temperature 0."""
N_ABOUT_TWICE: Final = 60
"""The same where a model is asked twice, since its temperature is not 0."""
N_CONTROLS: Final = 40
"""Controls that exclude a harm of 10 points if no answer changes."""
_MIN_CONTEXTS: Final = 10
"""Fewer cannot tell 20 points from none."""
_FROM_RESULTS: Final = frozenset({"source"})
"""Forms about results, which records do not hold: an argument is judged by the value that worked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureOptions:
    """How much is asked.

    Attributes
    ----------
    n_about : int or None
        Contexts that the lines are about; None for as many as find 20 points.
    budget_usd : float or None
        The most that the model may cost.
    confirmed : bool
        Whether questions may go to another machine.
    """

    n_about: int | None = None
    budget_usd: float | None = None
    confirmed: bool = False


@dataclass(frozen=True, slots=True)
class CostEstimate:
    """What a measurement asks: at most so many questions, some of which are answered already."""

    n_questions: int
    n_known: int
    microusd: int | None


@dataclass(frozen=True, slots=True)
class Prepared:
    """A measurement that can begin: the tools without and with the lines, and what counts as right."""

    edit: LineEdit
    asker: Asker
    contexts: CallContexts
    base: tuple[ToolText, ...]
    edited: tuple[ToolText, ...]
    right: Callable[[NextCall | None, CallContext], bool]
    turns: int
    may_ask: bool = True

    @property
    def model(self) -> str:
        """``provider:model``."""
        return self.asker.caller.name

    @property
    def n_contexts(self) -> int:
        """How many contexts are asked."""
        return len(self.contexts.about) + len(self.contexts.controls)

    def estimate(self) -> CostEstimate:
        """How many questions are asked at most, and what they can cost."""
        first = self.contexts.about[:N_FIRST]
        questions = [(context, self.base, context.reference, 0) for context in first]
        for context in (*self.contexts.about, *self.contexts.controls):
            for tools in (self.base, self.edited):
                questions += [(context, tools, None, turn) for turn in range(self.turns)]
        unknown = [
            (context, tools)
            for context, tools, stated, turn in questions
            if not self.asker.is_known(context, tools, stated=stated, turn=turn)
        ]
        costs = [self.asker.most(context, tools).microusd for context, tools in unknown]
        total = None if None in costs else sum(cost or 0 for cost in costs)
        return CostEstimate(len(questions), len(questions) - len(unknown), total)


def prepare(
    workspace: Workspace,
    edit: LineEdit,
    options: MeasureOptions,
    *,
    environ: Mapping[str, str],
    now: datetime,
) -> Prepared | Measurement:
    """Prepare a measurement: what the model is sent, and the contexts. No model is asked.

    Parameters
    ----------
    workspace, edit, options
        The project, the lines, and how much is asked.
    environ : mapping of str to str
        Holds the model's key.

    Returns
    -------
    Prepared or Measurement
        The latter if nothing can be measured, with the reason.

    Raises
    ------
    UsageError
        No model is set, or coreloop.yaml does not say what a model is sent.
    ReachError
        What it is sent cannot be read.
    """
    settings: Settings = replace(workspace.settings, model=model_names(workspace.settings.model)[0])
    if settings.model == "offline":
        raise UsageError("measuring asks a model; set CORELOOP_MODEL, for example to openai:gpt-5-mini")
    model = choose_model(settings, environ, has_usd_limit=options.budget_usd is not None)
    native = model.first if isinstance(model.first, OpenAICompatible) and model.first.calls_tools else None
    caller = ModelCaller(model, native, settings.measure.timeout_s)
    base, edited = _two_descriptions(workspace, edit)
    reason = refuse_difference(base, edited, edit)
    failure, tool = named_failure(edit.lines), edit.tool
    turns = 1 if settings.sampling.temperature == 0 else 2
    n_about = options.n_about or (N_ABOUT if turns == 1 else N_ABOUT_TWICE)
    contexts = CallContexts((), ())
    if reason is None:
        n_controls = min(N_CONTROLS, n_about)
        contexts = choose_contexts(workspace, tool, failure, n_about=n_about, n_controls=n_controls)
        if len(contexts.about) < _MIN_CONTEXTS:
            n_known = f"{len(contexts.about)} of {_MIN_CONTEXTS} that are needed"
            reason = f"too few recorded requests in which {tool} worked: {n_known}"
    if reason is not None:
        return _measurement(edit, caller.name, MeasureVerdict.UNAVAILABLE, now, reason=reason)
    budget = round(options.budget_usd * 1_000_000) if options.budget_usd is not None else None
    return Prepared(
        edit,
        Asker(caller, workspace.replies_file, budget),
        contexts,
        base,
        edited,
        _judge(tool, edit.lines, failure),
        turns,
        may_ask=options.confirmed or _is_here(workspace.settings, environ),
    )


def measure_and_keep(
    workspace: Workspace,
    prepared: Prepared | Measurement,
    *,
    now: datetime,
    on_progress: Callable[[int], None],
) -> Measurement:
    """Ask the model unless the result is known, and keep the measurement.

    Raises
    ------
    ModelError
        As `measure`.
    WorkspaceError
        The file of measurements cannot be written.
    """
    measured = prepared
    if isinstance(measured, Prepared):
        measured = measure(measured, now=now, on_progress=on_progress)
    keep(workspace, measured)
    return measured


def measure(prepared: Prepared, *, now: datetime, on_progress: Callable[[int], None]) -> Measurement:
    """Ask the model, and weigh its answers.

    Parameters
    ----------
    prepared : Prepared
        See `prepare`.
    on_progress : callable
        Called after each context with the number of contexts that are done.

    Raises
    ------
    ModelError
        The endpoint gave no reply. Every reply until then is kept.
    """
    about, controls = prepared.contexts.about, prepared.contexts.controls
    first, edit, model = about[:N_FIRST], prepared.edit, prepared.model
    try:
        gold = [_share(prepared, item, prepared.base, stated=item.reference, turns=1) for item in first]
        base = [_share(prepared, item, prepared.base) for item in first]
        stated, verdict = sum(gold) / len(gold), judge_model(base, gold)
        told = f"{sum(base) / len(base):.0%} right without the line, {stated:.0%} if told the right call"
        if verdict is MeasureVerdict.NOTHING_TO_GAIN:
            harm = compare_pairs(_pairs(prepared, first, on_progress))  # there is all the more to lose
            if judge_difference(harm) is MeasureVerdict.HURTS:
                return replace(_measurement(edit, model, MeasureVerdict.HURTS, now), gold=stated, about=harm)
        if verdict is not None:
            return replace(_measurement(edit, model, verdict, now, reason=told), gold=stated)
        pairs = _pairs(prepared, about, on_progress)
        other = _pairs(prepared, controls, lambda done: on_progress(len(about) + done))
    except BudgetSpentError:
        reason = "the budget is spent; run it again with another, and it goes on where it stopped"
        return _measurement(edit, model, MeasureVerdict.NOT_KNOWN, now, reason=reason)
    difference = compare_pairs(pairs)
    verdict = judge_difference(difference)
    more = f"about {difference.n_missing} more contexts" if verdict is MeasureVerdict.NOT_KNOWN else ""
    return replace(
        _measurement(edit, model, verdict, now, reason=more),
        gold=stated,
        about=difference,
        controls=compare_pairs(other) if other else None,
    )


def _measurement(
    edit: LineEdit, model: str, verdict: MeasureVerdict, now: datetime, *, reason: str = ""
) -> Measurement:
    """A measurement without figures."""
    return Measurement(
        ts=now,
        tool=edit.tool,
        keys=edit.keys,
        lines=edit.lines,
        model=model,
        verdict=verdict,
        reason=reason,
    )


def _two_descriptions(workspace: Workspace, edit: LineEdit) -> list[tuple[ToolText, ...]]:
    """The tools that two copies of the project serve, without and with the lines."""
    command = schema_command(workspace.settings.reach, workspace.root)
    if command is None:
        raise UsageError(f"measuring must know what the model is sent; set {REACH_EXAMPLES} in coreloop.yaml")
    tools = []
    with WritableRepository(workspace.root) as repository, temporary_folder("coreloop-measure-") as scratch:
        for name, content in (("without", edit.without), ("with", edit.with_lines)):
            root = Path(scratch, name)
            root.mkdir()
            repository.export(edit.base_sha, root)
            folder = root / edit.path.removesuffix(edit.file)
            (folder / edit.file).write_bytes(content)
            tools.append(tools_of(read_schema(command, folder)))
    return tools


def _is_here(settings: Settings, environ: Mapping[str, str]) -> bool:
    """Whether the model is on this machine, so that no question leaves it."""
    provider = model_names(settings.model)[0].partition(":")[0]
    endpoint = {**ENDPOINTS, **settings.endpoints}[provider]
    return is_loopback(endpoint_url(endpoint, environ))


def _judge(
    tool: str, lines: Sequence[str], failure: NamedFailure
) -> Callable[[NextCall | None, CallContext], bool]:
    """Whether a call is right: a fitting tool, not against the lines, with the values that they are about.

    For a control, the recorded tool is right.
    """
    advice = [line for line in map(parse_advice, lines) if line is not None]
    named = {tool for line in advice for tool in line.named().tools}
    from_results = [line for line in advice if line.form in _FROM_RESULTS]
    compared = {name for line in from_results for name in line.named().arguments}

    def is_right(call: NextCall | None, context: CallContext) -> bool:
        if call is None or call.tool != tool or context.tool != tool:
            return call is not None and call.tool in {context.tool, *(named if context.tool == tool else ())}
        if is_against(failure, call, context.earlier):
            return False
        worked = context.reference.arguments if context.reference is not None else {}
        return all(call.arguments.get(name) == worked[name] for name in compared if name in worked)

    return is_right


def _pairs(
    prepared: Prepared, contexts: Sequence[CallContext], on_progress: Callable[[int], None]
) -> list[Pair]:
    pairs = list[Pair]()
    for context in contexts:
        base = _share(prepared, context, prepared.base)
        pairs.append(Pair(context.case, base, _share(prepared, context, prepared.edited)))
        on_progress(len(pairs))
    return pairs


def _share(
    prepared: Prepared,
    context: CallContext,
    tools: Sequence[ToolText],
    *,
    stated: NextCall | None = None,
    turns: int | None = None,
) -> float:
    """The share of a context's answers that are right."""
    turns = turns or prepared.turns
    calls = [prepared.asker.next_call(context, tools, stated=stated, turn=turn) for turn in range(turns)]
    return sum(prepared.right(call, context) for call in calls) / turns
