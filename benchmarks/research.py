"""Whole offline researches over KorQuAD: how many are answered, how many rightly, and from which sources.

    uv run python benchmarks/research.py --data ../shared/data --questions 500

Each paragraph is a file of the index. Each question is researched twice: with all files, and without the one
that has its answer. An answer is right if the answer string stands in its first cited sentence.
Exits with 1 below the goals: 60 % of the questions answered, at most 10 % of those without their paragraph,
no citation that does not exist; without the threshold, 78 % answered rightly.
"""

import argparse
import re
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from answers import Question, read, wilson

from coreloop.answer.deps import Deps, open_deps
from coreloop.answer.models import offline
from coreloop.answer.research.answer import AgentResponse
from coreloop.answer.research.run import run_research
from coreloop.answer.research.verify import NO_EVIDENCE
from coreloop.answer.search.index.run import index_paths
from coreloop.answer.search.index.search_index import IndexProvider
from coreloop.answer.search.provider import Empty, Found, SearchAnswer, SearchLimits
from coreloop.base.project.workspace import open_workspace
from coreloop.runs.stores.store import open_store


@dataclass(frozen=True)
class Without:
    """The index without one file."""

    index: IndexProvider
    location: str
    name: str = "index"

    def search(self, query: str, limits: SearchLimits) -> SearchAnswer:
        answer = self.index.search(query, replace(limits, max_results=limits.max_results + 5))
        if not isinstance(answer, Found):
            return answer
        kept = tuple(source for source in answer.sources if source.location != self.location)
        return Found(kept[: limits.max_results]) if kept else Empty()


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--questions", type=int, default=500)
    parser.add_argument("--no-threshold", action="store_true", help="answer whatever the best sentence is")
    options = parser.parse_args()
    if options.no_threshold:
        offline.ANSWER_AT = 0.0
    paragraphs, questions = read(options.data)
    with tempfile.TemporaryDirectory() as folder:
        workspace = open_workspace(Path(folder))
        for place, paragraph in enumerate(paragraphs):
            path = Path(folder, "docs", f"{place}.md")
            path.parent.mkdir(exist_ok=True)
            path.write_text(f"# {paragraph.title}\n\n{paragraph.text}\n", encoding="utf-8")
        index_paths(workspace, [Path(folder, "docs")], now=datetime.now(UTC))
        with open_store(workspace) as store, open_deps(workspace, store, {}) as deps:
            counts = count(deps, questions[: options.questions])
    for name, number in counts.items():
        print(f"{name}: {wilson(number, options.questions)}")
    if options.no_threshold:
        return 0 if counts["right"] >= 0.78 * options.questions else 1
    is_good = counts["answered"] >= 0.6 * options.questions and counts["invented"] <= 0.1 * options.questions
    return 0 if is_good and not counts["unknown citations"] else 1


def count(deps: Deps, questions: list[Question]) -> Counter[str]:
    counts = Counter({"answered": 0, "right": 0, "invented": 0, "unknown citations": 0})
    index = IndexProvider(deps.workspace.index_file)
    for question in questions:
        response = run_research(question.text, deps=deps)
        counts["answered"] += response.final_answer != NO_EVIDENCE
        counts["right"] += any(answer in response.summary for answer in question.answers)
        counts["unknown citations"] += has_unknown(response)
        without = replace(deps, provider=Without(index, f"docs/{question.paragraph}.md"))
        counts["invented"] += run_research(question.text, deps=without).final_answer != NO_EVIDENCE
    return counts


def has_unknown(response: AgentResponse) -> bool:
    """Whether the answer cites a number that is no source of it."""
    return not set(re.findall(r"\[\d+\]", response.final_answer)) <= {one.id for one in response.sources}


if __name__ == "__main__":
    sys.exit(main())
