"""What a measurement needs before it asks: the descriptions, the contexts, and what counts as right."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Final

from coreloop.answer.models.choose_model import choose_model, model_names
from coreloop.answer.models.endpoints import ENDPOINTS, endpoint_url
from coreloop.answer.models.openai_compatible import OpenAICompatible
from coreloop.base.errors import UsageError
from coreloop.base.project.settings import Settings
from coreloop.base.project.tools import bare_name
from coreloop.base.project.workspace import Workspace
from coreloop.learn.effect.named_failure import NamedFailure, named_failure
from coreloop.learn.line import parse_advice
from coreloop.promote.commits import WritableRepository
from coreloop.promote.measure.ask_agent import AgentCaller
from coreloop.promote.measure.ask_model import Asker, CallingModel, ModelCaller
from coreloop.promote.measure.contexts import (
    CallContext,
    CallContexts,
    NextCall,
    choose_contexts,
    halves,
    is_against,
)
from coreloop.promote.measure.measured_lines import LineEdit
from coreloop.promote.measure.measurement import Measurement
from coreloop.promote.measure.verdict import MeasureVerdict
from coreloop.promote.measure.with_and_without import (
    Arms,
    NoArms,
    ToolText,
    WordedTools,
    arms_of,
    tools_of,
    two_copies,
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
    agent : tuple of str
        The command of the project's own agent, which is asked instead of a model; may be empty.
    confirmed : bool
        Whether questions may go to another machine.
    """

    n_about: int | None = None
    budget_usd: float | None = None
    agent: tuple[str, ...] = ()
    confirmed: bool = False


@dataclass(frozen=True, slots=True)
class MeasuredLines:
    """What is measured, of which model."""

    tool: str
    keys: tuple[str, ...]
    lines: tuple[str, ...]
    model: str
    tools: tuple[ToolText, ...] = ()

    def worded(self, wording: WordedTools) -> "MeasuredLines":
        """The same line in other words."""
        return replace(self, lines=(wording.line,), tools=wording.tools)

    def measured(
        self, verdict: MeasureVerdict, now: datetime, *, gold: float | None = None, reason: str = ""
    ) -> Measurement:
        """A measurement without figures."""
        return Measurement(
            ts=now,
            tool=self.tool,
            keys=self.keys,
            lines=self.lines,
            model=self.model,
            verdict=verdict,
            gold=gold,
            reason=reason,
            description="".join(tool.description for tool in self.tools if self._is_own(tool)),
            others={tool.name: tool.digest for tool in self.tools if not self._is_own(tool)},
        )

    def _is_own(self, tool: ToolText) -> bool:
        return tool.name in {self.tool, bare_name(self.tool)}


@dataclass(frozen=True, slots=True)
class CostEstimate:
    """What a measurement asks: at most so many questions, some of which are answered already."""

    n_questions: int
    n_known: int
    microusd: int | None


@dataclass(frozen=True, slots=True)
class Prepared:
    """A measurement that can begin."""

    subject: MeasuredLines
    asker: Asker
    contexts: CallContexts
    base: tuple[ToolText, ...]
    edited: tuple[ToolText, ...]
    right: Callable[[NextCall | None, CallContext], bool]
    turns: int
    may_ask: bool = True
    wordings: tuple[WordedTools, ...] = ()
    choosing: tuple[CallContext, ...] = ()
    """On which one of several wordings is chosen; the proposal's own comes first."""

    @property
    def n_contexts(self) -> int:
        """How many contexts are asked."""
        return len(self.choosing) + len(self.contexts.about) + len(self.contexts.controls)

    def estimate(self) -> CostEstimate:
        """How many questions are asked at most, and what they can cost."""
        questions = list(self._questions())
        unknown = [
            (context, tools)
            for context, tools, stated, turn in questions
            if not self.asker.is_known(context, tools, stated=stated, turn=turn)
        ]
        costs = [self.asker.most(context, tools).microusd for context, tools in unknown]
        total = None if None in costs else sum(cost or 0 for cost in costs)
        return CostEstimate(len(questions), len(questions) - len(unknown), total)

    def _questions(self) -> Iterator[tuple[CallContext, tuple[ToolText, ...], NextCall | None, int]]:
        for context in self.contexts.about[:N_FIRST]:
            yield context, self.base, context.reference, 0
        for context in self.choosing:
            yield from (
                (context, wording.tools, None, turn)
                for wording in self.wordings
                for turn in range(self.turns)
            )
        for context in (*self.contexts.about, *self.contexts.controls):
            for turn in range(self.turns):
                yield context, self.base, None, turn
                yield context, self.edited, None, turn


@contextmanager
def prepare(
    workspace: Workspace,
    edit: LineEdit,
    options: MeasureOptions,
    *,
    environ: Mapping[str, str],
    now: datetime,
) -> Iterator[Prepared | Measurement]:
    """Prepare a measurement: what the model is sent, and the contexts. No model is asked.

    Parameters
    ----------
    workspace, edit, options
        The project, the lines, and how much is asked.
    environ : mapping of str to str
        Holds the model's key.

    Yields
    ------
    Prepared or Measurement
        The latter if nothing can be measured, with the reason. Copies of the project exist until the end of
        the block.

    Raises
    ------
    UsageError
        No model is set, or coreloop.yaml does not say what a model is sent.
    ReachError, ModelError
        What it is sent cannot be read.
    """
    budget = round(options.budget_usd * 1_000_000) if options.budget_usd is not None else None
    with (
        WritableRepository(workspace.root) as repository,
        two_copies(lambda folder: repository.export(edit.base_sha, folder), edit) as copies,
    ):
        caller, arms = (_agent if options.agent else _model)(workspace, edit, options, copies, environ)
        asker = Asker(caller, workspace.replies_file, budget)
        may_ask = options.confirmed or not (options.agent or not _is_here(workspace.settings, environ))
        subject = MeasuredLines(edit.tool, edit.keys, edit.lines, caller.name)
        if isinstance(arms, NoArms):
            yield subject.measured(MeasureVerdict.UNAVAILABLE, now, reason=arms.reason)
        else:
            subject = replace(subject, tools=arms.edited)
            arms = replace(arms, wordings=_wordings(workspace, repository, edit, arms))
            found = _with_contexts(workspace, subject, asker, arms, options.n_about, now)
            yield replace(found, may_ask=may_ask) if isinstance(found, Prepared) else found


def _wordings(
    workspace: Workspace, repository: WritableRepository, edit: LineEdit, arms: Arms
) -> tuple[WordedTools, ...]:
    """The edit's own wording and the others that the model is sent as they are; empty if there are none."""
    command, worded = schema_command(workspace.settings.reach, workspace.root), list[WordedTools]()
    if command is None:
        return ()
    for other in edit.others:
        with two_copies(lambda folder: repository.export(edit.base_sha, folder), other) as copies:
            base, edited = (tools_of(read_schema(command, folder)) for folder in copies)
        if isinstance(arms_of(base, edited, other), Arms):
            worded.append(WordedTools(other.lines[0], edited))
    return (WordedTools(edit.lines[0], arms.edited), *worded) if worded else ()


def _with_contexts(
    workspace: Workspace,
    subject: MeasuredLines,
    asker: Asker,
    arms: Arms,
    n_about: int | None,
    now: datetime,
) -> Prepared | Measurement:
    tool, failure = subject.tool, named_failure(subject.lines)
    turns = 1 if workspace.settings.sampling.temperature == 0 else 2
    n_about = n_about or (N_ABOUT if turns == 1 else N_ABOUT_TWICE)
    n_controls, n_halves = min(N_CONTROLS, n_about), 2 if arms.wordings else 1
    contexts = choose_contexts(workspace, tool, failure, n_about=n_halves * n_about, n_controls=n_controls)
    choosing: tuple[CallContext, ...] = ()
    if arms.wordings:
        choosing, about = halves(contexts.about)
        contexts = replace(contexts, about=about)
    if len(contexts.about) < _MIN_CONTEXTS:
        reason = (
            f"too few recorded requests in which {tool} worked: {len(contexts.about)} of "
            f"{_MIN_CONTEXTS} that are needed"
        )
        return subject.measured(MeasureVerdict.UNAVAILABLE, now, reason=reason)
    right = _judge(tool, subject.lines, failure)
    return Prepared(
        subject,
        asker,
        contexts,
        arms.base,
        arms.edited,
        right,
        turns,
        wordings=arms.wordings,
        choosing=choosing,
    )


def _is_here(settings: Settings, environ: Mapping[str, str]) -> bool:
    """Whether the model is on this machine, so that no question leaves it."""
    provider = model_names(settings.model)[0].partition(":")[0]
    endpoint = {**ENDPOINTS, **settings.endpoints}[provider]
    return is_loopback(endpoint_url(endpoint, environ))


def _model(
    workspace: Workspace,
    edit: LineEdit,
    options: MeasureOptions,
    copies: tuple[Path, Path],
    environ: Mapping[str, str],
) -> tuple[CallingModel, Arms | NoArms]:
    settings: Settings = replace(workspace.settings, model=model_names(workspace.settings.model)[0])
    if settings.model == "offline":
        raise UsageError("measuring asks a model; set CORELOOP_MODEL, for example to openai:gpt-5-mini")
    command = schema_command(settings.reach, workspace.root)
    if command is None:
        raise UsageError(f"measuring must know what the model is sent; set {REACH_EXAMPLES} in coreloop.yaml")
    model = choose_model(settings, environ, has_usd_limit=options.budget_usd is not None)
    native = model.first if isinstance(model.first, OpenAICompatible) and model.first.calls_tools else None
    base, edited = (tools_of(read_schema(command, folder)) for folder in copies)
    return ModelCaller(model, native, settings.measure.timeout_s), arms_of(base, edited, edit)


def _agent(
    workspace: Workspace,
    edit: LineEdit,
    options: MeasureOptions,
    copies: tuple[Path, Path],
    environ: Mapping[str, str],
) -> tuple[CallingModel, Arms | NoArms]:
    if options.budget_usd is not None:
        raise UsageError("what an agent costs is not known; leave out --budget-usd, or --agent")
    if edit.others:
        raise UsageError("an agent is asked with one wording; leave out --wordings, or --agent")
    caller = AgentCaller(options.agent, copies, workspace.settings.measure.timeout_s, edit.base_sha)
    base, edited = (caller.tools(folder) for folder in copies)
    return replace(caller, edited=edited), arms_of(base, edited, edit)


def _judge(
    tool: str, lines: Sequence[str], failure: NamedFailure
) -> Callable[[NextCall | None, CallContext], bool]:
    """Whether a call is right: a fitting tool, not against the lines, with the values that they are about.

    For a control, the recorded tool is right.
    """
    advice = [line for line in map(parse_advice, lines) if line is not None]
    named = {tool for line in advice for tool in line.tools}
    from_results = [line for line in advice if line.form in _FROM_RESULTS]
    compared = {name for line in from_results for name in line.arguments}

    def is_right(call: NextCall | None, context: CallContext) -> bool:
        if call is None or call.tool != tool or context.tool != tool:
            return call is not None and call.tool in {context.tool, *(named if context.tool == tool else ())}
        if is_against(failure, call, context.earlier):
            return False
        worked = context.reference.arguments if context.reference is not None else {}
        return all(call.arguments.get(name) == worked[name] for name in compared if name in worked)

    return is_right
