"""Edit every docstring of polars, numpy and click: share edited, refused by reason, broken; time of an edit.

In each docstring, two lines are added at the end of the first block, the second is replaced, and both are
removed, which must restore the file but for white space; then two lines are added to a section.

uv run python benchmarks/docstring_edit.py [--every N]
"""

import argparse
import ast
import importlib.util
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path

from coreloop.descriptions.edit import Edited, put_lines, remove_bullets
from coreloop.descriptions.source import UnprovenError, definitions, parse, read_source

PACKAGES = ("polars", "numpy", "click")
SECTION = "Guide"
LINES = (
    "- When: questions on 수익성, margin (category FIN-profitability-KR).",
    '- Call: show(axis="margin").',
)
FIRST = ("- order_id: from get_user().orders[]", "- Always pass order_id")
BETTER = "- Always pass order_id and the ids of all of the items that the customer wants to send back"
FILE_LINES = 1_000
GOAL_MS = 20


@dataclass
class Tally:
    edited: int = 0
    broken: int = 0
    refused: Counter[str] = field(default_factory=Counter)


def package_files(name: str) -> list[Path]:
    spec = importlib.util.find_spec(name)
    assert spec is not None
    assert spec.submodule_search_locations is not None
    return sorted(Path(spec.submodule_search_locations[0]).rglob("*.py"))


def documented(source: bytes) -> Iterator[str]:
    for definition in definitions(parse(source)):
        if ast.get_docstring(definition.node, clean=False) is not None:
            yield definition.qualname


def is_broken(source: bytes, edited: Edited) -> bool:
    """Check an edit with the parser alone: a single insertion that changes no other docstring."""
    old, new = source, edited.source
    pairs = enumerate(zip(old, new, strict=False))
    at = next((number for number, (left, right) in pairs if left != right), len(old))
    if not edited.removed and new[at + len(new) - len(old) :] != old[at:]:
        return True
    docstrings = [dict.fromkeys(_docstrings(text)) for text in (old, new)]
    gone = [text for text in docstrings[0] if text not in docstrings[1]]
    return bool(gone) and gone != [edited.before]


def _docstrings(source: bytes) -> list[str]:
    nodes = (definition.node for definition in definitions(parse(source)))
    return [text for node in nodes if (text := ast.get_docstring(node, clean=False)) is not None]


def in_section(source: bytes, qualname: str) -> bool:
    """Whether two lines can be added to a section and the file stays whole."""
    return not is_broken(source, put_lines(source, qualname, LINES, section=SECTION))


def in_first_block(source: bytes, qualname: str) -> bool:
    """Whether lines can be added, replaced and removed, and the file is whole and restored."""
    is_ours = {*FIRST, BETTER}.__contains__
    added = put_lines(source, qualname, FIRST, is_ours=is_ours)
    replaced = put_lines(added.source, qualname, [BETTER], replaced=FIRST[1:], is_ours=is_ours)
    if is_broken(source, added) or is_broken(added.source, replaced):
        return False
    original = remove_bullets(read_source(replaced.source), qualname, [FIRST[0], BETTER], section=None)
    restored, texts = ([text.split() for text in _docstrings(raw)] for raw in (original.raw, source))
    return restored == texts


def tally(name: str, every: int, edit: Callable[[bytes, str], bool]) -> Tally:
    result, number = Tally(), 0
    for path in package_files(name):
        source = path.read_bytes()
        for qualname in documented(source):
            number += 1
            if number % every:
                continue
            try:
                is_whole = edit(source, qualname)
            except UnprovenError as reason:
                result.refused[str(reason).replace(qualname or " ", "NAME").partition(", at lines")[0]] += 1
                continue
            result.edited += is_whole
            result.broken += not is_whole
            if not is_whole:
                print("    broken:", path, qualname)
    return result


def edit_ms(path: Path) -> tuple[int, float]:
    """Return the lines of a file and the median processor time of an edit in milliseconds."""
    source = path.read_bytes()
    times = []
    for qualname in list(documented(source))[-20:] * 3:
        start = time.process_time()
        with suppress(UnprovenError):
            put_lines(source, qualname, LINES, section=SECTION)
        times.append((time.process_time() - start) * 1e3)
    return len(source.splitlines()), statistics.median(times)


def nearest_files(lines: int) -> list[Path]:
    """Return the file of each package whose length is closest."""
    return [
        min(
            (path for path in package_files(name) if any(documented(path.read_bytes()))),
            key=lambda path: abs(path.read_bytes().count(b"\n") - lines),
        )
        for name in PACKAGES
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--every", type=int, default=1, help="use every Nth docstring")
    every = parser.parse_args().every
    for name, edit in product(PACKAGES, (in_first_block, in_section)):
        result = tally(name, every, edit)
        total = result.edited + result.broken + result.refused.total()
        share = 100 * result.edited / max(1, total)
        print(f"{name}, {edit.__name__}: {total} docstrings, {share:.2f} % edited, {result.broken} broken")
        for reason, count in result.refused.most_common():
            print(f"    {count:5d} refused: {reason}")
    for path in nearest_files(FILE_LINES):
        lines, elapsed_ms = edit_ms(path)
        print(f"{path.parent.name}/{path.name}: {lines} lines, {elapsed_ms:.1f} ms per edit (goal {GOAL_MS})")


if __name__ == "__main__":
    main()
