"""The use case: what lines do to a model's next call, on requests that were recorded."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Final

import msgspec

from coreloop.answer.models.ladder import choose_model, endpoint_url, endpoints_of, model_names
from coreloop.answer.models.openai_compatible import OpenAICompatible
from coreloop.base.errors import RefusedError, UsageError
from coreloop.base.project.settings import Settings
from coreloop.base.project.tools import bare_name
from coreloop.base.project.workspace import Workspace
from coreloop.base.tempfiles import temporary_folder
from coreloop.descriptions.edit import Edited
from coreloop.learn.effect.named_failure import NamedFailure, named_failure
from coreloop.learn.line import parse_advice
from coreloop.promote.commits import WritableRepository
from coreloop.promote.docstring_edit import edit_lines, repository_path
from coreloop.promote.measure.ask_model import Asker, BudgetSpentError, ModelCaller, Question
from coreloop.promote.measure.contexts import (
    CallContext,
    CallContexts,
    NextCall,
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
from coreloop.promote.replay import is_loopback
from coreloop.promote.tool_schemas import SentTool, read_schema, schema_command, tools_of

N_FIRST: Final = 20
"""Contexts that show first whether there is something to gain and whether the model can."""
N_ABOUT: Final = 80
"""Contexts that find 20 points in nine of ten measurements, asked once at temperature 0."""
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
class Prepared:
    """A measurement that can begin: the tools without and with the lines, and what counts as right."""

    subject: Measurement
    asker: Asker
    contexts: CallContexts
    base: tuple[SentTool, ...]
    edited: tuple[SentTool, ...]
    right: Callable[[NextCall | None, CallContext], bool]
    may_ask: bool = True

    @property
    def n_contexts(self) -> int:
        """How many contexts are asked."""
        return len(self.contexts.about) + len(self.contexts.controls)

    def told(self) -> list[Question]:
        """The questions that show first whether the model can."""
        first = self.contexts.about[:N_FIRST]
        return [Question(its, self.base, is_told=True) for its in first if its.reference is not None]

    def estimate(self) -> CostEstimate:
        """How many questions are asked at most, and what they can cost."""
        questions = self.told()
        for context in (*self.contexts.about, *self.contexts.controls):
            questions += [Question(context, self.base), Question(context, self.edited)]
        unknown = [question for question in questions if not self.asker.is_known(question)]
        costs = [self.asker.caller.most(question).microusd for question in unknown]
        total = None if None in costs else sum(cost or 0 for cost in costs)
        return CostEstimate(len(questions), len(questions) - len(unknown), total)

    def is_right(self, question: Question) -> bool:
        """Ask, and say whether the next call is right."""
        return self.right(self.asker.next_call(question), question.context)

    def pairs(self, contexts: Sequence[CallContext], on_progress: Callable[[int], None]) -> list[Pair]:
        """Ask about contexts without the lines, then with them: a model's cache holds one description."""
        right = list[bool]()
        for tools in (self.base, self.edited):
            for context in contexts:
                right.append(self.is_right(Question(context, tools)))
                on_progress(len(right) // 2)
        cases, half = (context.case for context in contexts), len(contexts)
        return list(map(Pair, cases, right[:half], right[half:]))


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
    caller = ModelCaller(model, native)
    tool, lines = proposals[0].engine, tuple(line for proposal in proposals for line in proposal.lines)
    keys = tuple(proposal.key for proposal in proposals)
    verdict = MeasureVerdict.UNAVAILABLE
    subject = Measurement(ts=now, tool=tool, keys=keys, lines=lines, model=model.name, verdict=verdict)
    base, edited, refused = read_arms(workspace, proposals)
    if refused is not None:
        return replace(subject, reason=refused)
    failure, n_about = named_failure(lines), options.n_about or N_ABOUT
    from_results = any(line.form in _FROM_RESULTS for line in map(parse_advice, lines) if line is not None)
    sizes = {"n_about": n_about, "n_controls": min(N_CONTROLS, n_about)}
    contexts = choose_contexts(workspace, tool, failure, **sizes, needs_reference=from_results)
    if len(contexts.about) < _MIN_CONTEXTS:
        done, n_known = (
            "worked" if from_results else "was called",
            f"{len(contexts.about)} of {_MIN_CONTEXTS}",
        )
        reason = f"too few recorded requests in which {tool} {done}: {n_known} that are needed"
        return replace(subject, reason=reason)
    budget = round(options.budget_usd * 1_000_000) if options.budget_usd is not None else None
    asker, right = Asker(caller, workspace.replies_file, budget), _judge(tool, lines, failure)
    may_ask = options.confirmed or _is_here(workspace.settings, environ)
    return Prepared(subject, asker, contexts, base, edited, right, may_ask)


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
    about, subject = prepared.contexts.about, replace(prepared.subject, ts=now)
    try:
        gold = [prepared.is_right(question) for question in prepared.told()]
        base = [prepared.is_right(Question(item, prepared.base)) for item in about[:N_FIRST]]
        stated, verdict = sum(gold) / len(gold) if gold else None, judge_model(base, gold)
        if verdict is MeasureVerdict.NOTHING_TO_GAIN:
            harm = compare_pairs(prepared.pairs(about[:N_FIRST], on_progress))
            if judge_difference(harm) is MeasureVerdict.HURTS:
                return replace(subject, verdict=MeasureVerdict.HURTS, gold=stated, about=harm)
        if verdict is not None:
            told = f"{sum(base) / len(base):.0%} right without the line"
            told += f", {stated:.0%} if told the right call" if stated is not None else ""
            return replace(subject, verdict=verdict, gold=stated, reason=told)
        difference = compare_pairs(prepared.pairs(about, on_progress))
        other = prepared.pairs(prepared.contexts.controls, lambda done: on_progress(len(about) + done))
    except BudgetSpentError:
        reason = "the budget is spent; run it again with another, and it goes on where it stopped"
        return replace(subject, verdict=MeasureVerdict.NOT_KNOWN, reason=reason)
    verdict = judge_difference(difference)
    more = f"about {difference.n_missing} more contexts" if verdict is MeasureVerdict.NOT_KNOWN else ""
    controls = compare_pairs(other) if other else None
    return replace(subject, verdict=verdict, gold=stated, about=difference, controls=controls, reason=more)


def _is_here(settings: Settings, environ: Mapping[str, str]) -> bool:
    """Whether the model is on this machine, so that no question leaves it."""
    provider = model_names(settings.model)[0].partition(":")[0]
    return is_loopback(endpoint_url(endpoints_of(settings)[provider], environ))


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


_Tools = tuple[SentTool, ...]


def read_arms(workspace: Workspace, proposals: Sequence[Proposal]) -> tuple[_Tools, _Tools, str | None]:
    """Read the tools that two copies of the project serve, without and with the lines of proposals.

    The third says why they do not differ by exactly these.

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
        raise UsageError("measuring must know what the model is sent; dartlab-coreloop doctor says how")
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
            sent = tools_of(read_schema(command, project) if command else json.loads(content))
            arms.append(tuple(sent.values()))
    base, with_lines = arms
    return base, with_lines, refuse_difference(base, with_lines, edited, lead.engine)


def refuse_difference(
    base: Sequence[SentTool], edited: Sequence[SentTool], edit: Edited, tool: str
) -> str | None:
    """Why the tools that two copies serve do not differ by exactly the words of the edit; None if they do.

    Frameworks wrap lines and drop dashes, but no words.
    """
    if base == edited:
        return "the edit does not change what the model is sent"
    name = tool if tool in {item.name for item in base} else bare_name(tool)
    sides = [_words((item.name, item) for item in items) for items in (base, edited)]
    old, new = (_words([(name, text)]) for text in (edit.before, edit.after))
    is_exact = (sides[1] - sides[0], sides[0] - sides[1]) == (new - old, old - new)
    return None if is_exact else "what the model is sent changes by more than the edit"


def _words(items: Iterable[tuple[str, object]]) -> Counter[tuple[str, str]]:
    """The words of values in JSON, each with the tool that it is of."""
    texts = ((name, msgspec.json.encode(item).decode()) for name, item in items)
    words = ((name, _WORD.findall(re.sub(r"\\[nrt]", " ", text))) for name, text in texts)
    return Counter((name, word) for name, found in words for word in found)
