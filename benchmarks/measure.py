"""How often `measure` is right about models of known behaviour: 300 measurements each, by default.

    uv run python benchmarks/measure.py [--runs 300]

Every model answers as its description says, with random numbers of its own. Contexts are as unlike each other
as recorded ones: the same question asked again mostly gets the same answer (ICC 0.79), and two are of a case.
"""

import argparse
import random
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from coreloop.answer.models.contracts import CallReply
from coreloop.answer.models.model import CallLimits, Message, Reply, Usage
from coreloop.base.errors import ModelError
from coreloop.promote.measure.arms import ToolText
from coreloop.promote.measure.ask import Asker, ModelCaller
from coreloop.promote.measure.contexts import CallContext, CallContexts, NextCall
from coreloop.promote.measure.prepare import MeasuredLines, Prepared
from coreloop.promote.measure.run import measure

NOW = datetime(2026, 11, 24, tzinfo=UTC)
RIGHT = NextCall("update", {"priority": "high"})
ICC = 0.79
"""Correlation of the answers to one question, measured on repeated runs of one task."""
Chances = Callable[[float, bool], float]
"""The chance of a right answer of a context of a difficulty, without and with the line."""


@dataclass
class ScriptedModel:
    """A model whose chance of a right call is known."""

    chances: Chances
    draw: random.Random
    gold: float = 0.97
    difficulty: dict[str, float] | None = None
    name: str = "scripted"

    def most(self, messages: Sequence[Message], limits: CallLimits) -> Usage:
        return Usage(self.name, 1000, 50, 1)

    def complete(self, messages: Sequence[Message], schema: type[Any], limits: CallLimits) -> Reply[Any]:
        system, user = messages[0].content, messages[1].content
        question = user.partition("\n")[2].partition("\n")[0]
        if "The right next call" in user:
            chance = self.gold
        else:
            chance = self.chances((self.difficulty or {})[question], "LINE" in system)
        tool = "update" if question.startswith("about") else "other"
        if chance < 0:
            raise ModelError("no JSON", kind="malformed")
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


MODELS: dict[str, tuple[Chances, float, float]] = {
    "ignores the line": (lifted(0), 0.97, 0.5),
    "obeys it: 20 points": (lifted(0.2), 0.97, 0.5),
    "obeys it: 10 points": (lifted(0.1), 0.97, 0.5),
    "is confused by it: -20 points": (lifted(-0.2), 0.97, 0.5),
    "is right already": (lifted(0), 0.99, 0.99),
    "cannot call tools": (lambda *_: 0.02, 0.03, 0.5),
    "replies with garbage": (lambda *_: -1.0, -1.0, 0.5),
}


def once(name: str, seed: int, *, n: int, turns: int) -> str:
    """One measurement; the verdict."""
    draw = random.Random(f"{name}{seed}")
    chances, gold, mean = MODELS[name]
    contexts = [_context("about", number) for number in range(n)]
    controls = [_context("other", number) for number in range(40)]
    spread = (1 - ICC) / ICC
    difficulty = {
        item.question: draw.betavariate(mean * spread, (1 - mean) * spread) for item in (*contexts, *controls)
    }
    model = ScriptedModel(chances, draw, gold, difficulty)
    base, edited = ToolText("update", "Update.", {}), ToolText("update", "Update. LINE", {})
    with tempfile.TemporaryDirectory() as folder:
        prepared = Prepared(
            subject=MeasuredLines("update", (), ("LINE",), "scripted"),
            asker=Asker(ModelCaller(model), Path(folder, "replies.jsonl")),
            contexts=CallContexts(tuple(contexts), tuple(controls)),
            base=(base,),
            edited=(edited,),
            right=lambda call, context: call is not None and call.tool == context.tool,
            turns=turns,
        )
        return str(measure(prepared, now=NOW, on_progress=lambda _: None).verdict)


def _context(kind: str, number: int) -> CallContext:
    question = f"{kind} {number}"
    tool = "update" if kind == "about" else "other"
    return CallContext(question, f"{kind} {number // 2}", question, (), tool, RIGHT, was_against=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=300)
    runs: int = parser.parse_args().runs
    for n, turns in ((80, 1), (60, 2)):
        print(f"\n{n} contexts, asked {'once' if turns == 1 else 'twice'} with each description")
        for name in MODELS:
            counts = Counter(once(name, seed, n=n, turns=turns) for seed in range(runs))
            shares = ", ".join(f"{verdict} {count / runs:.1%}" for verdict, count in counts.most_common())
            print(f"  {name:<32}{shares}")


if __name__ == "__main__":
    main()
