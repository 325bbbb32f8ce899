"""How often `measure` is right about models of known behaviour: 300 measurements each, by default.

    uv run python benchmarks/measure.py [--runs 300] [--models slow]

Every model answers as its description says, with random numbers of its own. Contexts are as unlike each other
as recorded ones: the same question asked again mostly gets the same answer (ICC 0.79), and two are of a case.
"""

import argparse
import random
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from coreloop.answer.models.contracts import CallReply
from coreloop.answer.models.ladder import Ladder
from coreloop.answer.models.model import CallLimits, Message, Reply, Usage
from coreloop.base.errors import ModelError
from coreloop.descriptions.place import Wanted
from coreloop.descriptions.texts import find_text, put_lines
from coreloop.promote.measure.ask_model import Asker, ModelCaller
from coreloop.promote.measure.contexts import CallContext, CallContexts, NextCall
from coreloop.promote.measure.measurement import Measurement, MeasureVerdict
from coreloop.promote.measure.run import Prepared, measure, refuse_difference
from coreloop.promote.tool_schemas import SentTool

NOW = datetime(2026, 11, 24, tzinfo=UTC)
RIGHT = NextCall("update", {"priority": "high"})
LINE = "priority: one of high, low, normal, urgent"
SOURCE = b'def update(priority: str) -> None:\n    """Update.\n\n    Soon.\n    """\n'
EDIT = put_lines("tool.py", SOURCE, find_text("tool.py", SOURCE, "update"), Wanted((f"- {LINE}",)))
UNKNOWN = MeasureVerdict.NOT_KNOWN
SUBJECT = Measurement(ts=NOW, tool="update", keys=(), lines=("LINE",), model="scripted", verdict=UNKNOWN)
ICC = 0.79
"""Correlation of the answers to one question, measured on repeated runs of one task."""
Chances = Callable[[float, bool], float]
"""The chance of a right answer of a context of a difficulty, without and with the line."""


@dataclass(frozen=True)
class Behaviour:
    """How a scripted model answers; shares are of its answers."""

    chances: Chances
    gold: float = 0.97
    mean: float = 0.5
    lost: float = 0.0
    garbage: float = 0.0
    is_fresh: bool = False


@dataclass
class ScriptedModel:
    """A model whose chance of a right call is known."""

    behaviour: Behaviour
    draw: random.Random
    difficulty: dict[str, float]
    name: str = "scripted"
    n_answered: int = 0

    def most(self, messages: Sequence[Message], limits: CallLimits) -> Usage:
        return Usage(self.name, 1000, 50, 1)

    def complete(self, messages: Sequence[Message], schema: type[Any], limits: CallLimits) -> Reply[Any]:
        system, user = messages[0].content, messages[1].content
        question = user.partition("\n")[2].partition("\n")[0]
        if self.draw.random() < self.behaviour.lost:
            raise ModelError(f"no complete answer in {limits.timeout_s:g} s", kind="unavailable")
        self.n_answered += len(messages) == 2  # a reply that is no JSON is asked for again, with a complaint
        if self.draw.random() < self.behaviour.garbage:
            raise ModelError("no JSON", kind="malformed")
        difficulty = self.behaviour.mean if self.behaviour.is_fresh else self.difficulty[question]
        is_stated = "The right next call" in user
        chance = self.behaviour.gold if is_stated else self.behaviour.chances(difficulty, "LINE" in system)
        tool = "update" if question.startswith("about") else "other"
        is_right = self.draw.random() < chance
        value = CallReply(tool=tool if is_right else "wrong", arguments={"priority": "high"})
        return Reply(value, Usage(self.name, 1000, 50, 1))


def lifted(points: float) -> Chances:
    """A line that adds points to the share of right calls where half are right without it."""

    def chance(difficulty: float, has_line: bool) -> float:
        if not has_line or points == 0:
            return difficulty
        return difficulty + (1 - difficulty) * 2 * points if points > 0 else difficulty * (1 + 2 * points)

    return chance


MODELS: dict[str, Behaviour] = {
    "ignores the line": Behaviour(lifted(0)),
    "obeys it: 20 points": Behaviour(lifted(0.2)),
    "obeys it: 10 points": Behaviour(lifted(0.1)),
    "is confused by it: -20 points": Behaviour(lifted(-0.2)),
    "is right already": Behaviour(lifted(0), gold=0.99, mean=0.99),
    "cannot call tools": Behaviour(lambda *_: 0.02, gold=0.03),
    "replies with garbage": Behaviour(lifted(0.2), garbage=1.0),
    "garbage in 1 of 5, ignores it": Behaviour(lifted(0), garbage=0.2),
    "garbage in 1 of 5, 20 points": Behaviour(lifted(0.2), garbage=0.2),
    "slow: 1 of 50 too late, ignores it": Behaviour(lifted(0), lost=0.02),
    "slow: 1 of 50 too late, 20 points": Behaviour(lifted(0.2), lost=0.02),
    "always too slow": Behaviour(lifted(0.2), lost=1.0),
    "flaky: answers anew, ignores it": Behaviour(lifted(0), is_fresh=True),
    "flaky: answers anew, 20 points": Behaviour(lifted(0.2), is_fresh=True),
}
MAX_GOES = 100
"""A measurement that a lost reply ends is run again so often."""


def once(name: str, seed: int) -> str:
    """One measurement, run again until it ends; the verdict."""
    draw, behaviour = random.Random(f"{name}{seed}"), MODELS[name]
    about, controls = (
        [_context(kind, number) for number in range(count)] for kind, count in (("about", 80), ("other", 40))
    )
    spread, mean = (1 - ICC) / ICC, behaviour.mean
    difficulty = {
        item.question: draw.betavariate(mean * spread, (1 - mean) * spread) for item in (*about, *controls)
    }
    model = ScriptedModel(behaviour, draw, difficulty)
    base, edited = SentTool("update", "Update.", {}), SentTool("update", "Update. LINE", {})
    with tempfile.TemporaryDirectory() as folder:
        replies = Path(folder, "replies.jsonl")
        for _ in range(MAX_GOES):
            prepared = Prepared(
                subject=SUBJECT,
                asker=Asker(ModelCaller(Ladder([model])), replies),
                contexts=CallContexts(tuple(about), tuple(controls)),
                base=(base,),
                edited=(edited,),
                right=lambda call, context: call is not None and call.tool == context.tool,
            )
            try:
                verdict = measure(prepared, now=NOW, on_progress=lambda _: None).verdict
            except ModelError:
                continue
            assert model.n_answered == len(replies.read_text().splitlines()), "something was asked twice"
            return str(verdict)
    return "no verdict"


def served_wrongly(seed: int) -> str:
    """Whether two copies that serve something else than their own descriptions are measured."""
    draw = random.Random(seed)
    base = (SentTool("update", "Update.\n\nSoon.", {}), SentTool("close", "Close.", {}))
    edited = (replace(base[0], description=f"{base[0].description}\n\n- {LINE}"), base[1])
    cut = draw.randrange(1, len(LINE))
    wrong = [
        (base, base),
        (edited, edited),
        (edited, base),
        (base, (replace(edited[0], description=edited[0].description[:-cut]), base[1])),
        (base, (edited[0], replace(base[1], description=f"Close. {LINE}"))),
        (base, (base[0], replace(base[1], description=edited[0].description))),
        (base, (edited[0],)),
        (base, (replace(edited[0], parameters={"type": "object"}), base[1])),
    ]
    assert refuse_difference(base, edited, EDIT, "update") is None
    return "unavailable" if refuse_difference(*draw.choice(wrong), EDIT, "update") else "measured"


def _context(kind: str, number: int) -> CallContext:
    question = f"{kind} {number}"
    tool = "update" if kind == "about" else "other"
    return CallContext(question, f"{kind} {number // 2}", question, (), tool, RIGHT, was_against=True)


def shares(verdicts: Sequence[str]) -> str:
    """How often each verdict came out."""
    counts = Counter(verdicts).most_common()
    return ", ".join(f"{verdict} {count / len(verdicts):.1%}" for verdict, count in counts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--models", default="", help="only those whose name has this in it")
    options = parser.parse_args()
    runs = range(options.runs)
    print("80 contexts")
    for name in MODELS:
        if options.models in name:
            print(f"  {name:<36}{shares([once(name, seed) for seed in runs])}", flush=True)
    print(f"\ncopies that serve something else: {shares([served_wrongly(seed) for seed in runs])}")


if __name__ == "__main__":
    main()
