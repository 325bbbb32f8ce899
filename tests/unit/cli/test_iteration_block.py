"""The block after an iteration: what was believed in part, what is left to do, and how a run ended."""

from pathlib import Path

from coreloop.answer.agent.record import RecordedIteration
from coreloop.cli.iteration_block import following_lines, iteration_lines
from walking import FILES, LENGTH, SEOUL, SURVEY, Walk, executed, finding, walk_in

OTHER = "The Han river is 514 kilometres long."


def lines(recorded: RecordedIteration) -> list[str]:
    return [*iteration_lines(recorded), *following_lines(recorded.state)]


def answer_all(walk: Walk, queries: tuple[str, ...]) -> RecordedIteration:
    for name in (*FILES, "docs/old.md"):
        walk.read(name)
    said = [finding(LENGTH, 1, "q1"), finding(SEOUL, 1, "q2"), finding(SURVEY, 2, "q3"), finding(OTHER, 3)]
    return walk.record(*said, queries=executed(*queries))


def test_what_does_not_count_of_a_believed_finding_stands_below_it(tmp_path: Path):
    with walk_in(tmp_path) as walk:
        walk.read("docs/han.md")
        shown = lines(walk.record(finding(LENGTH, 1) | {"sources": [1, "me"]}, finding("Invented.", 1)))
    place = shown.index(f"   - {LENGTH} [~ LIKELY]")
    assert shown[place + 1] == "     ↳ coreloop has not read me; read it with runs read, and name its number"
    doubted = shown[shown.index("❓ Not confirmed:") + 1 :]
    assert doubted[0].startswith("   - Invented.: ")
    assert not any(LENGTH in line for line in doubted)


def test_a_run_that_goes_on_though_all_is_answered_says_what_is_left(tmp_path: Path):
    with walk_in(tmp_path, FILES | {"docs/old.md": OTHER}) as walk:
        walk.plan()
        shown = lines(answer_all(walk, ("something else",)))
    assert "📊 Progress: 66% (2/3)" in shown
    (left,) = (line for line in shown if line.startswith("⏳ Still to do: "))
    assert "execute a chosen query with the intent counter-evidence" in left
    assert left.endswith("settle the contradiction about q1")
    assert shown[-1] == "The next iteration begins..."


def test_a_run_that_is_over_says_which_contradictions_are_open(tmp_path: Path):
    with walk_in(tmp_path, FILES | {"docs/old.md": OTHER}) as walk:
        walk.open(max_iterations=1)
        planned = walk.plan()
        shown = lines(answer_all(walk, tuple(one.query for one in planned.execute)))
    assert shown[-2:] == [
        "The research ends: it reached its last iteration.",
        "⚠️ Open contradictions: 1. Which side is right was not settled.",
    ]
