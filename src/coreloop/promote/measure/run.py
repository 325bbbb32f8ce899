"""The use case: what lines do to a model's next call, on requests that were recorded."""

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from coreloop.answer.models.ladder import ENDPOINTS, choose_model, endpoint_url, model_names
from coreloop.answer.models.openai_compatible import OpenAICompatible
from coreloop.base.errors import RefusedError, UsageError
from coreloop.base.project.settings import Settings
from coreloop.base.project.tools import bare_name
from coreloop.base.project.workspace import Workspace
from coreloop.base.tempfiles import temporary_folder
from coreloop.descriptions.edit import Edited
from coreloop.learn.effect.tool_days import NamedFailure, named_failure
from coreloop.learn.line import parse_advice
from coreloop.promote.commits import WritableRepository
from coreloop.promote.docstring_edit import edit_lines, repository_path
from coreloop.promote.measure.ask_model import Asker, BudgetSpentError, ModelCaller, Question
from coreloop.promote.measure.contexts import (
    CallContext,
    CallContexts,
    NextCall,
    ToolText,
    choose_contexts,
    is_against,
)
from coreloop.promote.measure.measurement import (
    Measurement,
    MeasureVerdict,
    Pair,
    compare_pairs,
    judge_difference,
    judge_model,
)
from coreloop.promote.plan import base_commit
from coreloop.promote.proposal_entry import Proposal
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
_WORD: Final = re.compile(r"\w+")
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
class MeasuredLines:
    """What is measured, of which model."""

    tool: str
    keys: tuple[str, ...]
    lines: tuple[str, ...]
    model: str

    def measured(self, verdict: MeasureVerdict, now: datetime, **figures: Any) -> Measurement:
        """A measurement of them."""
        return Measurement(
            ts=now,
            tool=self.tool,
            keys=self.keys,
            lines=self.lines,
            model=self.model,
            verdict=verdict,
            **figures,
        )


@dataclass(frozen=True, slots=True)
class Prepared:
    """A measurement that can begin: the tools without and with the lines, and what counts as right."""

    subject: MeasuredLines
    asker: Asker
    contexts: CallContexts
    base: tuple[ToolText, ...]
    edited: tuple[ToolText, ...]
    right: Callable[[NextCall | None, CallContext], bool]
    turns: int
    may_ask: bool = True

    @property
    def n_contexts(self) -> int:
        """How many contexts are asked."""
        return len(self.contexts.about) + len(self.contexts.controls)

    def questions(self, context: CallContext, tools: Sequence[ToolText]) -> list[Question]:
        """The questions about a context, in turn."""
        return [Question(context, tools, turn) for turn in range(self.turns)]

    def told(self) -> list[Question]:
        """The questions that show first whether the model can."""
        return [Question(context, self.base, is_told=True) for context in self.contexts.about[:N_FIRST]]

    def estimate(self) -> CostEstimate:
        """How many questions are asked at most, and what they can cost."""
        questions = self.told()
        for context in (*self.contexts.about, *self.contexts.controls):
            questions += self.questions(context, self.base) + self.questions(context, self.edited)
        unknown = [question for question in questions if not self.asker.is_known(question)]
        costs = [self.asker.caller.most(question).microusd for question in unknown]
        total = None if None in costs else sum(cost or 0 for cost in costs)
        return CostEstimate(len(questions), len(questions) - len(unknown), total)

    def share(self, questions: Sequence[Question]) -> float:
        """The share of answers that are right."""
        asked = ((self.asker.next_call(question), question.context) for question in questions)
        return sum(self.right(call, context) for call, context in asked) / len(questions)

    def pairs(self, contexts: Sequence[CallContext], on_progress: Callable[[int], None]) -> list[Pair]:
        """Ask about contexts without and with the lines."""
        pairs = list[Pair]()
        for context in contexts:
            base, edited = (self.share(self.questions(context, tools)) for tools in (self.base, self.edited))
            pairs.append(Pair(context.case, base, edited))
            on_progress(len(pairs))
        return pairs


def prepare(
    workspace: Workspace,
    proposals: Sequence[Proposal],
    options: MeasureOptions,
    *,
    environ: Mapping[str, str],
    now: datetime,
) -> Prepared | Measurement:
    """Prepare a measurement: what the model is sent, and the contexts. No model is asked.

    Parameters
    ----------
    workspace, proposals, options
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
    CoreloopError
        As `read_arms` does.
    """
    settings: Settings = replace(workspace.settings, model=model_names(workspace.settings.model)[0])
    if settings.model == "offline":
        raise UsageError("measuring asks a model; set CORELOOP_MODEL, for example to openai:gpt-5-mini")
    model = choose_model(settings, environ, has_usd_limit=options.budget_usd is not None)
    first = model.models[0]
    native = first if isinstance(first, OpenAICompatible) and first.endpoint.tool_calls else None
    caller = ModelCaller(model, native, settings.measure.timeout_s)
    tool, lines = proposals[0].engine, tuple(line for proposal in proposals for line in proposal.lines)
    subject = MeasuredLines(tool, tuple(proposal.key for proposal in proposals), lines, model.name)
    arms = read_arms(workspace, proposals)
    if arms.refused is not None:
        return subject.measured(MeasureVerdict.UNAVAILABLE, now, reason=arms.refused)
    turns = 1 if settings.sampling.temperature == 0 else 2
    n_about = options.n_about or (N_ABOUT if turns == 1 else N_ABOUT_TWICE)
    failure, n_controls = named_failure(lines), min(N_CONTROLS, n_about)
    contexts = choose_contexts(workspace, tool, failure, n_about=n_about, n_controls=n_controls)
    if len(contexts.about) < _MIN_CONTEXTS:
        n_known = f"{len(contexts.about)} of {_MIN_CONTEXTS} that are needed"
        reason = f"too few recorded requests in which {tool} worked: {n_known}"
        return subject.measured(MeasureVerdict.UNAVAILABLE, now, reason=reason)
    budget = round(options.budget_usd * 1_000_000) if options.budget_usd is not None else None
    asker, right = Asker(caller, workspace.replies_file, budget), _judge(tool, lines, failure)
    may_ask = options.confirmed or _is_here(workspace.settings, environ)
    return Prepared(subject, asker, contexts, arms.base, arms.edited, right, turns, may_ask)


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
    about, subject = prepared.contexts.about, prepared.subject
    try:
        gold = [prepared.share([question]) for question in prepared.told()]
        base = [prepared.share(prepared.questions(item, prepared.base)) for item in about[:N_FIRST]]
        stated, verdict = sum(gold) / len(gold), judge_model(base, gold)
        if verdict is MeasureVerdict.NOTHING_TO_GAIN:
            harm = compare_pairs(prepared.pairs(about[:N_FIRST], on_progress))
            if judge_difference(harm) is MeasureVerdict.HURTS:
                return subject.measured(MeasureVerdict.HURTS, now, gold=stated, about=harm)
        if verdict is not None:
            told = f"{sum(base) / len(base):.0%} right without the line, {stated:.0%} if told the right call"
            return subject.measured(verdict, now, gold=stated, reason=told)
        difference = compare_pairs(prepared.pairs(about, on_progress))
        other = prepared.pairs(prepared.contexts.controls, lambda done: on_progress(len(about) + done))
    except BudgetSpentError:
        reason = "the budget is spent; run it again with another, and it goes on where it stopped"
        return subject.measured(MeasureVerdict.NOT_KNOWN, now, reason=reason)
    verdict = judge_difference(difference)
    more = f"about {difference.n_missing} more contexts" if verdict is MeasureVerdict.NOT_KNOWN else ""
    controls = compare_pairs(other) if other else None
    return subject.measured(verdict, now, gold=stated, about=difference, controls=controls, reason=more)


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


@dataclass(frozen=True, slots=True)
class Arms:
    """All tools without and with the lines; ``refused`` says why they do not differ by exactly these."""

    base: tuple[ToolText, ...]
    edited: tuple[ToolText, ...]
    refused: str | None


def read_arms(workspace: Workspace, proposals: Sequence[Proposal]) -> Arms:
    """Read the tools that two copies of the project serve, without and with the lines of proposals.

    Raises
    ------
    UsageError
        Coreloop.yaml does not say what a model is sent.
    CoreloopError
        The lines cannot be added, or what a model is sent cannot be read.
    """
    if any(proposal.subject is None for proposal in proposals):
        raise RefusedError("only lines about one tool can be measured; verify replays a sequence")
    settings, lead = workspace.settings, proposals[0]
    command = schema_command(settings.reach, workspace.root)
    if command is None and not lead.file.endswith(".json"):
        raise UsageError(f"measuring must know what the model is sent; set {REACH_EXAMPLES} in coreloop.yaml")
    arms = []
    repository = WritableRepository(workspace.root)
    with temporary_folder("coreloop-measure-") as scratch:
        base_sha = base_commit(repository, settings.forge.base, fetch=False)
        path = repository_path(repository, workspace.root, lead.file)
        edited = edit_lines(workspace, repository, base_sha, proposals)
        for name, content in (("without", edited.old), ("with", edited.source)):
            root = Path(scratch, name)
            root.mkdir()
            repository.export(base_sha, root)
            (root / path).write_bytes(content)
            project = root / path.removesuffix(lead.file)
            arms.append(tools_of(read_schema(command, project) if command else json.loads(content)))
    base, with_lines = arms
    return Arms(base, with_lines, refuse_difference(base, with_lines, edited, lead.engine))


def tools_of(schema: object) -> tuple[ToolText, ...]:
    """The tools of a schema in OpenAI's, Anthropic's or MCP's format; the first of each name."""
    tools, waiting = dict[str, ToolText](), [schema]
    while waiting:
        item = waiting.pop(0)
        if isinstance(item, list):
            waiting[:0] = item
        elif isinstance(item, dict):
            name, text = item.get("name"), item.get("description")
            if isinstance(name, str) and isinstance(text, str):
                tools.setdefault(name, ToolText(name, text, _parameters(item)))
            else:
                waiting[:0] = item.values()
    return tuple(tools.values())


def _parameters(item: Mapping[str, Any]) -> Mapping[str, Any]:
    names = ("parameters", "input_schema", "inputSchema")
    return next((item[name] for name in names if isinstance(item.get(name), dict)), {})


def refuse_difference(
    base: Sequence[ToolText], edited: Sequence[ToolText], edit: Edited, tool: str
) -> str | None:
    """Why the tools that two copies serve do not differ by exactly the edit; None if they do."""
    sides = [[(item.name, *_parts(item)) for item in items] for items in (base, edited)]
    if [its[:2] for its in sides[0]] != [its[:2] for its in sides[1]]:
        return "the two copies of the project have different tools or parameters"
    changed = [(old[0], old[2], new[2]) for old, new in zip(*sides, strict=True) if old != new]
    if not changed:
        return "the edit does not change what the model is sent"
    name, old, new = changed[0]
    if len(changed) > 1 or name not in {tool, bare_name(tool)}:
        names = ", ".join(name for name, *_ in changed)
        return f"the edit also changes what the model is sent for {names}"
    before, after = edit.before, edit.after
    is_exact = _added(old, new) == _added(before, after) and _added(new, old) == _added(after, before)
    return None if is_exact else "the two descriptions differ by more than the edit"


def _parts(tool: ToolText) -> tuple[str, str]:
    """The schema of a tool without its descriptions, and these, the tool's own first."""
    texts = [tool.description]

    def without_texts(item: dict[str, Any]) -> dict[str, Any]:
        if isinstance(item.get("description"), str):
            texts.append(item.pop("description"))
        return item

    schema = json.loads(json.dumps(tool.parameters), object_hook=without_texts)
    return json.dumps(schema), "\n".join(texts)


def _added(old: str, new: str) -> Counter[str]:
    """The words that a text has more than another; frameworks wrap lines and drop dashes, but no words."""
    return Counter(_WORD.findall(new)) - Counter(_WORD.findall(old))
