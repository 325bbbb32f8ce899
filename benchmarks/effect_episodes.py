"""Whether `effect` finds effects that are planted into real episodes, and says nothing of none.

    CORELOOP_SHARED_DATA=DIR uv run python benchmarks/effect_episodes.py

Each day draws episodes of the shared 690 with replacement, 56 days before a change and 90 after. After it,
failing calls of one tool succeed with a chance (helps), or calls of it fail (hurts), or nothing changes. The
other tools are the controls; an episode is a case. Prints a line per tool and effect.
"""

import argparse
import json
import os
import sys
from collections import Counter, defaultdict
from pathlib import Path
from random import Random

from coreloop.learn.effect.day_counts import tally
from coreloop.learn.effect.estimate import DailyEstimates
from coreloop.learn.effect.tool_days import ToolLog
from coreloop.learn.effect.verdict import Decision, EffectVerdict, decide

BEFORE, AFTER = 56, 90
EFFECTS = {
    "none": (1.0, 0.0),
    "four of five failures gone": (0.2, 0.0),
    "one call in seven fails": (1.0, 0.15),
}
"""The share of failures that stay, and the share of the other calls that fail then."""
Episode = tuple[str, tuple[tuple[str, bool], ...]]


def read_episodes(path: Path) -> list[Episode]:
    """Model and calls of each episode."""
    episodes = []
    for line in path.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        calls = tuple((call["name"], call.get("ok", True)) for call in record["tool_calls"])
        episodes.append((record["model"] or "", calls))
    return episodes


def judge(
    episodes: list[Episode], target: str, planted: tuple[float, float], seed: int, a_day: int
) -> Decision:
    rng = Random(f"{target} {planted} {seed}")
    logs: defaultdict[str, ToolLog] = defaultdict(ToolLog)
    for day in range(BEFORE + AFTER):
        for number in range(round(a_day * (1.2 if day % 7 < 5 else 0.5))):
            model, calls = rng.choice(episodes)
            for tool, worked in calls:
                ok = worked
                if tool == target and day >= BEFORE:
                    ok = rng.random() >= planted[1] if worked else rng.random() >= planted[0]
                row = logs[tool].calls[day].setdefault(((model, ""), 1000 * day + number), [0, 0])
                row[0] += 1
                row[1] += not ok
    names = [target, *(name for name in logs if name != target)]
    periods = [
        (tally(logs[name].count(range(BEFORE))), logs[name].count(range(BEFORE, BEFORE + AFTER)))
        for name in names
    ]
    return decide(AFTER, DailyEstimates(BEFORE, periods).at)


def main() -> int:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("--seeds", type=int, default=40)
    parser.add_argument("--episodes", type=int, default=15, help="a day")
    options = parser.parse_args()
    folder = Path(os.environ.get("CORELOOP_SHARED_DATA", "../shared/data"))
    episodes = read_episodes(folder / "tau_retail_gpt4o_gpt41.jsonl")
    failures = Counter(tool for _, calls in episodes for tool, ok in calls if not ok)
    print(
        "| tool | failures of the 690 | planted | verdicts | median day |\n|---|---|---|---|---|", flush=True
    )
    for target, n in failures.most_common(4):
        for name, planted in EFFECTS.items():
            decisions = [
                judge(episodes, target, planted, seed, options.episodes) for seed in range(options.seeds)
            ]
            counts = Counter(decision.verdict for decision in decisions)
            told = ", ".join(f"{kind} {counts[kind]}" for kind in EffectVerdict if counts[kind])
            days = sorted(decision.day for decision in decisions if decision.day is not None)
            median = days[len(days) // 2] if days else "-"
            print(f"| {target} | {n} | {name} | {told} | {median} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
